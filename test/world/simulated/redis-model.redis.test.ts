import { expect } from 'chai';
import type { PlantEvent } from '../../../src/domain';
import {
  type AppendResult,
  BEGINNING,
  type Head,
  type ReadResult,
  StoreUnavailable,
  headOf,
} from '../../../src/event-sourcing';
import { streamName } from '../../../src/testing/a-stream';
import { openStore } from '../../adapters/redis/open-store';
import { created } from '../../event-sourcing/pending-request';
import { randomFrom } from '../../support/random';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { OUT_OF_MEMORY, RedisModel, WriteRefused } from './redis-model';

const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
const FAILOVERS = process.env['LONG'] === undefined ? 1 : 10;
const CALLS = 200;
const PAGE_SIZE = 3;
const STREAMS = ['ada', 'bob'].map(streamName);

type Result = ReadResult<PlantEvent> | AppendResult<PlantEvent> | 'refused';

type Opened = Awaited<ReturnType<typeof openStore>>;

interface Append {
  readonly stream: (typeof STREAMS)[number];
  readonly expected: Head;
  readonly commit: string;
  readonly events: readonly PlantEvent[];
}

describeOwnRedis('The model of Redis in the simulator', (startRedis) => {
  it(`answers random reads and appends as Redis does, also without memory, after failovers and after archives, SEED=${SEED}`, async () => {
    const random = randomFrom(SEED);
    const below = (end: number) => Math.floor(random() * end);
    const oneOf = <T>(values: readonly T[]): T => values[below(values.length)]!;
    const model = new RedisModel<PlantEvent>(1, PAGE_SIZE);
    const heads: Head[] = [BEGINNING, { version: 0, commit: 'other' }, { version: 2, commit: 'other' }];
    const appends: Append[] = [];
    const statuses = new Set<string>();

    const newAppend = (): Append => {
      const stream = oneOf(STREAMS);
      const commit = `commit-${appends.length}`;
      const events = Array.from({ length: 1 + below(4) }, (_, index) => created(index, commit));
      const expected = below(2) === 0 ? headOf(model.history(stream).at(-1) ?? BEGINNING) : oneOf(heads);
      return { stream, expected, commit, events };
    };

    async function archiveBoth({ archive }: Opened): Promise<void> {
      const stream = oneOf(STREAMS);
      const history = model.history(stream);
      const replaced = model.bases.get(stream)?.head.version ?? 0;
      const last = history[replaced + below(history.length - replaced)];
      if (last === undefined) return;
      const base = { format: 'test', head: headOf(last), chunks: ['a'], archive: 'seal' };
      expect(await archive.saveBase(stream, base, replaced, async () => {})).to.equal(true);
      while ((await archive.trim(stream, base.head))! > 0);
      model.archive(stream, base);
      model.trim(stream, Infinity);
    }

    async function callBoth({ store }: Opened): Promise<void> {
      if (below(3) === 0) {
        const [stream, after] = [oneOf(STREAMS), oneOf(heads)];
        const expected = model.read(stream, after);
        statuses.add(expected.status);
        expect(withoutEnd(await store.read(stream, after))).to.deep.equal(expected);
        return;
      }
      const append = appends.length > 0 && below(4) === 0 ? oneOf(appends) : newAppend();
      appends.push(append);
      const { stream, expected, commit, events } = append;
      const result = inModel(() => model.append(stream, expected, commit, events));
      const answer = await refusedOr(store.append(stream, expected, commit, events));
      expect(withoutEnd(answer)).to.deep.equal(result);
      statuses.add(typeof result === 'string' ? result : result.status);
      if (typeof result !== 'string' && result.status === 'appended') heads.push(result.head);
    }

    const servers = [await startRedis(), await startRedis()] as [RedisServer, RedisServer];
    for (let failover = 0; failover < FAILOVERS; failover++) {
      const [primary, replica] = failover % 2 === 0 ? servers : ([...servers].reverse() as typeof servers);
      await replica.admin.replicaof(...primary.peer);
      await untilReplicated(primary);
      const opened = await openStore(primary.url, { pageSize: PAGE_SIZE });
      for (let call = 0; call < CALLS; call++) {
        await callBoth(opened);
        if (call % 20 === 0) await archiveBoth(opened);
      }

      await untilReplicated(primary);
      model.wait(model.offset);
      await replica.admin.replicaof('NO', 'ONE');
      model.connect(0, false);
      // These are lost with the primary.
      await archiveBoth(opened);
      for (let call = 0; call < CALLS / 10; call++) await callBoth(opened);
      await archiveBoth(opened);

      await primary.admin.config('SET', 'maxmemory', '1');
      model.refusal = OUT_OF_MEMORY;
      for (let call = 0; call < CALLS / 10; call++) await callBoth(opened);
      await primary.admin.config('SET', 'maxmemory', '0');
      model.refusal = undefined;
      await opened.close();

      model.promote(0);
      model.connect(0, true);
      const promoted = await openStore(replica.url, { pageSize: PAGE_SIZE });
      for (let call = 0; call < CALLS; call++) await callBoth(promoted);
      await promoted.close();
    }
    expect([...statuses]).to.have.members(['read', 'appended', 'conflict', 'reset', 'archived', 'refused']);
    expect(model.lost.size, 'streams that lost events').to.be.above(0);
  }).timeout(300_000);
});

/** Resolves once the replica has every write. */
async function untilReplicated({ admin }: RedisServer): Promise<void> {
  do await admin.set('written', 'to be waited for');
  while ((await admin.wait(1, 50)) < 1);
}

function inModel(call: () => Result): Result {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof WriteRefused)) throw error;
    return 'refused';
  }
}

async function refusedOr(call: Promise<Result>): Promise<Result> {
  return call.catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error;
    return 'refused';
  });
}

/** Without the optional `end` of a page, which the model does not have. */
function withoutEnd(result: Result): Result {
  if (typeof result === 'string' || !('end' in result)) return result;
  const { end, ...rest } = result;
  expect(end).to.deep.equal(headOf(rest.events.at(-1)!));
  return rest;
}
