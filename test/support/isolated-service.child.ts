/** The child process of {@link IsolatedService}: runs the service, and reports its status to the test. */
import { pino } from 'pino';
import { bootstrap } from '../../src/service/bootstrap';
import { readConfig } from '../../src/service/config';
import { heapAfterGc } from './heap';
import type { ServiceStatus, StatusRequest } from './isolated-service';
import { SlowStore } from './slow-store';
import { found, noteLine } from './suite-log';
import { TOKENS } from './watched-service';

async function main(): Promise<void> {
  const faults: string[] = [];
  const write = (line: string) => {
    noteLine(line);
    if ((JSON.parse(line) as { level: number }).level >= 50) faults.push(line);
  };
  const { config } = readConfig({ PORT: '0', AUTH_TOKENS: `alice:${TOKENS.alice}`, ...process.env });
  const eventStore = new SlowStore();
  const log = pino({ level: 'trace' }, { write });
  const service = await bootstrap(config!, { eventStore, log });

  process.send!(service.url);
  process.on('message', ({ storeDelayMs }: StatusRequest) => {
    eventStore.delayMs = storeDelayMs ?? eventStore.delayMs;
    const status: ServiceStatus = {
      heap: heapAfterGc(),
      trips: eventStore.trips,
      faults: [...faults, ...found().unclean],
    };
    process.send!(status);
  });
  process.on('disconnect', () => process.exit(0));
}

void main();
