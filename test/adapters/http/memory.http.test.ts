import { bootstrap } from '../../../src/bootstrap';
import { readConfig } from '../../../src/config';
import { httpContract } from '../../contracts/http/http-contract';

httpContract({
  name: 'The service in memory',
  async start(environment) {
    const service = await bootstrap(readConfig({ PORT: '0', LOG_LEVEL: 'silent', ...environment }).config!);
    return { urls: [service.url], stop: () => service.stop() };
  },
});
