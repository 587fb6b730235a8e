import { startWatched } from '../../../support/watched-service';
import { answers } from './answers';
import { behaviour } from './behaviour';
import { bodies } from './bodies';
import { httpContract } from './contract';

httpContract(
  {
    name: 'The service in memory',
    async start(environment) {
      const service = await startWatched(environment);
      return { urls: [service.url], stop: () => service.stop() };
    },
  },
  behaviour,
  bodies,
  answers,
);
