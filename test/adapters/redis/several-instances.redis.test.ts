import { expect } from 'chai';
import { randomInt, randomUUID } from 'node:crypto';
import { type EventStore, type PlantStore, type User, parseUser } from '../../../src/application';
import { newPlant, plantId } from '../../support/given';
import { type Operation, type SequentialModel, isLinearizable } from '../../support/linearizability';
import { randomFrom } from '../../support/random';
import { describeRedis } from '../../support/redis';
import { openStore, plantsOver } from './open-store';

const LONG = process.env['LONG'] === '1';
const INSTANCES = 3;
const WHOLE = { limit: Infinity, after: 0 };

/**
 * Two ways to look for answers from the past: many clients with a simple
 * question, and few clients with every question there is. Both are then tried
 * on instances that do answer from the past, and must notice.
 */
describeRedis('Several instances on one Redis', (redis) => {
  let close: (() => Promise<void>)[] = [];

  /** The use cases of one instance each, over a connection of its own. */
  async function instances(altered: (store: EventStore) => EventStore = (store) => store) {
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

  it('show a write to every read that starts after it was acknowledged, whichever instance did', async function () {
    this.timeout(LONG ? 120_000 : 10_000);
    const { reads, stale } = await race(await instances(), LONG ? 5000 : 100, seed);

    expect(stale, `SEED=${seed}`).to.deep.equal([]);
    expect(reads).to.be.above(100);
  });

  it('would be seen to be stale if they answered reads without asking Redis', async () => {
    const { stale } = await race(await instances(thatAsksNobody), 100, seed);

    expect(stale).to.not.be.empty;
  });

  it('together answer as one careful clerk would', async function () {
    this.timeout(LONG ? 120_000 : 10_000);
    const plants = await instances();
    for (let round = 0; round < (LONG ? 2000 : 50); round++) {
      const history = await shortHistory(plants, seed + round);
      expect(isLinearizable(CLERK, history), `SEED=${seed + round}: ${JSON.stringify(history)}`).to.equal(
        true,
      );
    }
  });

  it('would be seen not to if they answered reads without asking Redis', async () => {
    const plants = await instances(thatAsksNobody);
    let wrong = 0;
    for (let round = 0; round < 50; round++) {
      if (!isLinearizable(CLERK, await shortHistory(plants, seed + round))) wrong++;
    }
    expect(wrong).to.be.above(0);
  });
});

/** The mutant: once it knows a stream it takes for granted that nothing is newer. */
function thatAsksNobody(store: EventStore): EventStore {
  return {
    read: async (stream, after) =>
      after.version === 0 ? store.read(stream, after) : { status: 'read', events: [], more: false },
    append: (...args) => store.append(...args),
  };
}

function newUser(): User {
  return parseUser(randomUUID())!;
}

/** Four writers with plants of their own and four readers, each asking any instance at each turn. */
async function race(plants: readonly PlantStore[], turns: number, seed: number) {
  const user = newUser();
  const random = randomFrom(seed);
  const anyInstance = () => plants[Math.floor(random() * plants.length)]!;
  /** Acknowledged and not asked to be deleted since; acknowledged to be deleted. */
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

type Question = { readonly ask: 'create' | 'delete'; readonly id: number } | { readonly ask: 'list' };
type Answer = string | readonly string[];

/** Keeps one list, and serves one client at a time. */
const CLERK: SequentialModel<readonly string[], Question, Answer> = {
  initial: [],
  step(state, question) {
    if (question.ask === 'list') return { state, output: state };
    const id = String(question.id);
    if (question.ask === 'create') {
      return state.includes(id)
        ? { state, output: 'id-taken' }
        : { state: [...state, id], output: 'PlantCreated' };
    }
    return state.includes(id)
      ? { state: state.filter((other) => other !== id), output: 'PlantDeleted' }
      : { state, output: 'no-such-plant' };
  },
};

/** What five clients asked who fought for three ids, four questions each, of any instance; and what they heard. */
async function shortHistory(plants: readonly PlantStore[], seed: number) {
  const user = newUser();
  const random = randomFrom(seed);
  const history: Operation<Question, Answer>[] = [];
  let time = 0;

  async function ask(instance: PlantStore, question: Question): Promise<Answer> {
    if (question.ask === 'list') return (await instance.list(user, WHOLE)).plants.map(({ name }) => name);
    const id = plantId(question.id);
    const decision = await (question.ask === 'create'
      ? instance.create(user, newPlant(id, id))
      : instance.delete(user, id));
    return decision.rejection ?? decision.event.type;
  }

  async function client(): Promise<void> {
    for (let turn = 0; turn < 4; turn++) {
      const dice = random();
      const id = 1 + Math.floor(random() * 3);
      const input: Question =
        dice < 0.4 ? { ask: 'create', id } : dice < 0.6 ? { ask: 'delete', id } : { ask: 'list' };
      const asked = ++time;
      const output = await ask(plants[Math.floor(random() * plants.length)]!, input);
      history.push({ input, asked, answered: ++time, output });
    }
  }

  await Promise.all([1, 2, 3, 4, 5].map(client));
  return history;
}
