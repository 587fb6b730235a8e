import { bootstrap } from '../../../src/bootstrap';
import { readConfig } from '../../../src/config';
import { httpContract } from '../../contracts/http/http-contract';
import { notedLog } from '../../support/suite-log';

httpContract({
  name: 'The service in memory',
  async start(environment) {
    const service = await bootstrap(readConfig({ PORT: '0', ...environment }).config!, { log: notedLog() });
    return { urls: [service.url], stop: () => service.stop() };
  },
});
