import type { PlantEvent } from '../../../src/domain';
import { expect } from 'chai';
import { randomInt, randomUUID } from 'node:crypto';
import { type PlantStore, type User, parseUser } from '../../../src/application';
import { type EventStore } from '../../../src/event-sourcing';
import { streamKey } from '../../../src/adapters/redis/stream-key';
import { newPlant, plantId } from '../../support/given';
import { type Operation, type PlantRequest, linearizationProblem } from '../../support/linearizability';
import { randomFrom } from '../../support/random';
import { describeRedis } from '../../support/redis';
import { storedEvents } from '../../support/stored-events';
import { openStore, plantsOver } from './open-store';

const LONG = process.env['LONG'] === '1';
const INSTANCES = 3;
const WHOLE = { limit: Infinity, after: 0 };

/**
 * Two checks for stale reads: many clients with simple requests, and few clients
 * with all kinds of requests. Both must also detect instances that do answer
 * stale reads.
 */
describeRedis('Several instances on one Redis', (redis) => {
  let close: (() => Promise<void>)[] = [];

  /** The use cases of each instance, on separate connections. */
  async function instances(
    altered: (store: EventStore<PlantEvent>) => EventStore<PlantEvent> = (store) => store,
  ) {
    const opened = await Promise.all(
      Array.from({ length: INSTANCES }, () => openStore(redis.url, { keyPrefix: redis.prefix, pageSize: 5 })),
    );
    close.push(...opened.map((each) => each.close));
    return opened.map(({ store }) => plantsOver(altered(store)));
  }

  afterEach(async () => {
    for (const each of close) await each();
    close = [];
  });

  const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31));

  it('show an acknowledged write to every later read of any instance', async function () {
    this.timeout(120_000);
    const { reads, stale } = await race(await instances(), LONG ? 5000 : 100, seed);

    expect(stale, `SEED=${seed}`).to.deep.equal([]);
    expect(reads).to.be.above(100);
  });

  /** Five clients compete for three ids, with four requests each to any instance. */
  async function problemOfShortHistory(plants: readonly PlantStore[], seed: number) {
    const user = newUser();
    const operations = await shortHistory(plants, user, seed);
    return linearizationProblem(operations, await storedEvents(redis.admin, streamKey(redis.prefix, user)));
  }

  it('are detected to be stale if they answer reads without a read barrier', async () => {
    const { stale } = await race(await instances(thatAsksNobody), 100, seed);

    expect(stale).to.not.be.empty;
  });

  it('are linearizable', async function () {
    this.timeout(120_000);
    const plants = await instances();
    for (let round = 0; round < (LONG ? 2000 : 50); round++) {
      expect(await problemOfShortHistory(plants, seed + round), `SEED=${seed + round}`).to.equal(undefined);
    }
  });

  it('are detected not to be linearizable if they answer reads without a read barrier', async () => {
    const plants = await instances(thatAsksNobody);
    let wrong = 0;
    for (let round = 0; round < 50; round++) {
      if ((await problemOfShortHistory(plants, seed + round)) !== undefined) wrong++;
    }
    expect(wrong).to.be.above(0);
  });
});

/** The mutant: after the first read of a stream it assumes that there are no newer events. */
function thatAsksNobody(store: EventStore<PlantEvent>): EventStore<PlantEvent> {
  return {
    read: async (stream, after) =>
      after.version === 0 ? store.read(stream, after) : { status: 'read', events: [], more: false },
    append: (...args) => store.append(...args),
  };
}

function newUser(): User {
  return parseUser(randomUUID())!;
}

/** Four writers with different plants and four readers; each request goes to any instance. */
async function race(plants: readonly PlantStore[], turns: number, seed: number) {
  const user = newUser();
  const random = randomFrom(seed);
  const anyInstance = () => plants[Math.floor(random() * plants.length)]!;
  /** Acknowledged creates without a delete request; acknowledged deletes. */
  const living = new Set<string>();
  const gone = new Set<string>();
  const stale: string[] = [];
  let reads = 0;
  let writing = true;

  async function write(writer: number): Promise<void> {
    const mine: string[] = [];
    for (let turn = 0; turn < turns; turn++) {
      if (mine.length < 10 || random() < 0.3) {
        const id = String(writer * turns + turn);
        await anyInstance().create(user, newPlant(id, id));
        living.add(id);
        mine.push(id);
      } else {
        const [id] = mine.splice(Math.floor(random() * mine.length), 1) as [string];
        living.delete(id);
        await anyInstance().delete(user, plantId(id));
        gone.add(id);
      }
    }
  }

  async function read(): Promise<void> {
    while (writing) {
      const [due, undue] = [[...living], [...gone]];
      const { plants: listed } = await anyInstance().list(user, WHOLE);
      const names = new Set(listed.map(({ name }) => name));
      stale.push(...due.filter((id) => !names.has(id) && living.has(id)).map((id) => `${id} is missing`));
      stale.push(...undue.filter((id) => names.has(id)).map((id) => `${id} is there`));
      reads++;
    }
  }

  const readers = [1, 2, 3, 4].map(read);
  await Promise.all([0, 1, 2, 3].map(write));
  writing = false;
  await Promise.all(readers);
  return { reads, stale };
}

async function shortHistory(plants: readonly PlantStore[], user: User, seed: number): Promise<Operation[]> {
  const random = randomFrom(seed);
  const operations: Operation[] = [];
  let time = 0;

  async function answerTo(request: PlantRequest): Promise<Operation['answer']> {
    const instance = plants[Math.floor(random() * plants.length)]!;
    if (request.type === 'list') return (await instance.list(user, WHOLE)).plants.map(({ name }) => name);
    const decision = await (request.type === 'create'
      ? instance.create(user, newPlant(request.id, request.name))
      : instance.delete(user, plantId(request.id)));
    return decision.rejection ?? (request.type === 'create' ? 'created' : 'deleted');
  }

  async function client(): Promise<void> {
    for (let turn = 0; turn < 4; turn++) {
      const dice = random();
      const id = 1 + Math.floor(random() * 3);
      const request: PlantRequest =
        dice < 0.4
          ? { type: 'create', id, name: `plant ${id}` }
          : dice < 0.6
            ? { type: 'delete', id }
            : { type: 'list' };
      const asked = ++time;
      const answer = await answerTo(request);
      operations.push({ request, asked, answered: ++time, answer });
    }
  }

  await Promise.all([1, 2, 3, 4, 5].map(client));
  return operations;
}
