/** A process with one instance of the projection `audit`. See projection-processes.fault.test.ts. */
import { once } from 'node:events';
import { openRedisEventStore } from '../../../src/adapters/redis';
import { system } from '../../../src/adapters/system';
import { type Batch, project } from '../../../src/event-sourcing';
import { textCodec } from '../../event-sourcing/one-projection';
import { Audit } from '../../world/read-model/audit';

const [url, auditPort] = process.argv.slice(2) as [string, string];

let repaired = false;
process.on('message', (message) => {
  if (message === 'repaired') repaired = true;
});

async function main(): Promise<void> {
  const opened = await openRedisEventStore({ url });
  const audit = new Audit(Number(auditPort));
  const apply = async (batch: Batch<string>) => {
    const texts = batch.slices.flatMap(({ events }) => events.map(({ event }) => event));
    if (texts.includes('bad') && !repaired) throw new Error('no tag');
    if (texts.includes('slow')) {
      process.send!('applying');
      await once(process, 'message');
    }
    await audit.transaction(batch).catch((error: unknown) => {
      process.send!((error as Error).name);
      throw error;
    });
  };
  project<string>(opened, {
    ...{ ...system(), codec: textCodec, checkpoint: audit, apply },
    leases: {
      ...{ store: opened.leases, projection: 'audit' },
      instance: `${process.pid}`,
      takeOverMs: 2000,
    },
  });
}

void main();
