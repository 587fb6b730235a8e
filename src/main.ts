import './service/node-version';
import { runServe } from './service/serve';

void runServe(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
