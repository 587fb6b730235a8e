import './service/node-version';
import { serve } from './service/serve';

void serve(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
