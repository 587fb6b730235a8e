/** A process of the scenario of a read model: a consumer, or all writers. See {@link Part}. */
import { openRedisEventStore } from '../../../src/adapters/redis';
import { system } from '../../../src/adapters/system';
import { project } from '../../../src/event-sourcing';
import { textCodec } from '../../event-sourcing/one-projection';
import { randomFrom } from '../../support/random';
import { Appenders } from './appenders';
import { Audit } from './audit';
import { MOST_EVENTS, PAUSE_MS, type PartOptions, TAKE_OVER_MS } from './part';

const { environment, seed, auditPort } = JSON.parse(process.argv[2]!) as PartOptions;

async function main(): Promise<void> {
  const store = await openStore();
  if (seed !== undefined) {
    const { mintCommit } = store;
    const options = { random: randomFrom(seed), mintCommit, mostEvents: MOST_EVENTS, pauseMs: PAUSE_MS };
    const appenders = new Appenders(store.store, options);
    process.once('message', () => void appenders.stop().then((appended) => process.send!(appended)));
  } else {
    const audit = new Audit(auditPort);
    project<string>(store, {
      ...{ ...system(), codec: textCodec, checkpoint: audit },
      apply: (batch) => audit.transaction(batch),
      lostTail: ({ bucket }) => audit.noteReset(bucket),
      observer: {
        stopped: ({ bucket, error }) => void audit.noteProblem(`bucket ${bucket} stopped: ${String(error)}`),
      },
      leases: {
        ...{ store: store.leases, projection: 'audit', takeOverMs: TAKE_OVER_MS },
        instance: String(process.pid),
      },
    });
  }
  process.send!('ready');
}

function openStore() {
  return openRedisEventStore({ ...environment, createsId: seed !== undefined });
}

void main();
