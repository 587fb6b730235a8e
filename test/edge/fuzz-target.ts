/** The service in a process of its own, for a fuzzer that wants to know whether it lives, what it logs and what it holds. */
import { pino } from 'pino';
import { bootstrap } from '../../src/bootstrap';
import { readConfig } from '../../src/config';
import { heapAfterGc } from '../support/heap';
import { TOKENS, requireClean } from '../support/watched-service';

/** What it tells of itself when asked. */
export interface Condition {
  readonly heap: number;
  /** Log lines that should not be there: unclean ones, and those that tell of a fault. */
  readonly faults: readonly string[];
}

async function main(): Promise<void> {
  const faults: string[] = [];
  const write = (line: string) => {
    requireClean(line);
    if ((JSON.parse(line) as { level: number }).level >= 40) faults.push(line);
  };
  const { config } = readConfig({ PORT: '0', AUTH_TOKENS: `alice:${TOKENS.alice}`, BODY_LIMIT: '2000' });
  const service = await bootstrap(config!, { log: pino({ level: 'trace' }, { write }) });

  process.send!(service.url);
  process.on('message', () => {
    const condition: Condition = { heap: heapAfterGc(), faults };
    process.send!(condition);
  });
  process.on('disconnect', () => process.exit(0));
}

void main();
