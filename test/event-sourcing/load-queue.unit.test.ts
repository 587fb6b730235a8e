import { expect } from 'chai';
import { type Load, LoadQueue } from '../../src/event-sourcing/loading/load-queue';
import { ManualClock, untilIdle } from '../support/manual-clock';
import { rejection } from '../support/rejection';

const PAGE_TIMEOUT_MS = 4000;

/** A queue whose pages arrive under the control of the test. */
class Given {
  readonly clock = new ManualClock();
  readonly queue: LoadQueue;
  /** The names of the loads whose pages are in flight, in order of request. */
  readonly underWay: string[] = [];
  readonly #arrivals: (() => void)[] = [];
  readonly dropped: string[] = [];
  /** Why, as the error says. */
  readonly reasons: string[] = [];

  constructor(maxReads: number) {
    this.queue = new LoadQueue(this.clock, PAGE_TIMEOUT_MS, maxReads);
  }

  /** Loads `pages` pages, one after the other. */
  load(name: string, pages = 1, wanted = () => true): Load {
    const load: Load = { pages: 0, expectedAt: -Infinity, wanted };
    const page = () =>
      new Promise<void>((resolve) => {
        this.underWay.push(name);
        this.#arrivals.push(resolve);
      });
    void (async () => {
      this.queue.began();
      let left = pages;
      try {
        for (; left > 0; left--) await this.queue.read(load, page);
      } catch (error) {
        this.dropped.push(name);
        this.reasons.push((error as Error).message);
      }
      this.queue.ended(left === 0);
      load.pages = 0;
    })();
    return load;
  }

  /** Delivers the oldest page in flight; returns the name of its load. */
  async arrives(): Promise<string> {
    const name = this.underWay.shift()!;
    this.#arrivals.shift()!();
    await untilIdle();
    return name;
  }

  async arriveAll(): Promise<string[]> {
    const names: string[] = [];
    while (this.underWay.length > 0) names.push(await this.arrives());
    return names;
  }
}

/** After how many milliseconds the last of 200 loads that have to wait is to be requested again. */
function lastOf200Retries(given: Given): number {
  given.load('under way');
  return Math.max(...Array.from({ length: 200 }, () => given.queue.retryAfterMs(given.load('waiting'))));
}

describe('The load queue', () => {
  it('requests a few pages at a time over all loads', async () => {
    const given = new Given(2);
    for (const name of ['a', 'b', 'c', 'd']) given.load(name, 2);
    expect(given.underWay).to.deep.equal(['a', 'b']);

    const arrived = await given.arriveAll();
    expect(arrived).to.have.length(8);
  });

  it('counts the loads that are in progress, and those that wait for their first page', async () => {
    const given = new Given(2);
    let wanted = true;
    for (const name of ['a', 'b', 'c', 'd']) given.load(name, 2, () => wanted);
    expect([given.queue.inProgress, given.queue.unstarted]).to.deep.equal([2, 2]);

    await given.arrives();
    expect([given.queue.inProgress, given.queue.unstarted]).to.deep.equal([2, 2]);
    wanted = false;
    await given.arriveAll();
    expect(given.dropped).to.deep.equal(['c', 'd']);
    expect([given.queue.inProgress, given.queue.unstarted]).to.deep.equal([0, 0]);
  });

  it('completes short loads in order of arrival, instead of all of them late', async () => {
    const given = new Given(1);
    for (const name of ['a', 'b', 'c']) given.load(name, 2);
    expect(await given.arriveAll()).to.deep.equal(['a', 'a', 'b', 'b', 'c', 'c']);
  });

  it('prefers short loads, and gives long ones every fourth turn', async () => {
    const given = new Given(1);
    given.load('long', 100);
    for (let page = 0; page < 40; page++) await given.arrives();
    for (let count = 0; count < 6; count++) given.load('short', 2);

    const arrived = (await given.arriveAll()).slice(0, 17);
    expect(arrived.filter((name) => name === 'short')).to.have.length(12);
    expect(arrived.join(' ')).to.match(/^long (?:short ){0,3}(?:long short short short ){3}/);
  });

  it('takes a load for long after eight pages', async () => {
    const given = new Given(1);
    given.load('a', 10);
    given.load('b');
    expect((await given.arriveAll()).indexOf('b')).to.equal(8);
  });

  it('lets long loads take turns, page by page', async () => {
    const given = new Given(1);
    given.load('a', 60);
    for (let page = 0; page < 40; page++) await given.arrives();
    given.load('b', 60);
    const arrived = (await given.arriveAll()).slice(12);
    expect(arrived.slice(0, 8).join('')).to.match(/^(?:ab|ba){4}$/);
  });

  it('does not start a load that no request waits for', async () => {
    const given = new Given(1);
    given.load('a');
    given.load('gone', 1, () => false);
    given.load('b');
    expect(await given.arriveAll()).to.deep.equal(['a', 'b']);
    expect(given.dropped).to.deep.equal(['gone']);
    expect(given.reasons).to.deep.equal(['no request waits for this history any more']);
  });

  it('continues a started load after its requests have expired', async () => {
    const given = new Given(1);
    let wanted = true;
    given.load('a', 5, () => wanted);
    await given.arrives();
    wanted = false;
    expect(await given.arriveAll()).to.deep.equal(['a', 'a', 'a', 'a']);
  });

  it('continues eight long loads whose requests have expired, and drops the others', async () => {
    const given = new Given(1);
    let wanted = true;
    for (let count = 0; count < 20; count++) given.load(`load ${count}`, 60, () => wanted);
    for (let page = 0; page < 20 * 40; page++) await given.arrives();
    wanted = false;
    await given.arriveAll();
    expect(given.dropped).to.have.length(20 - 8);
  });

  it('continues a long load that no request waits for beside any number of others', async () => {
    const given = new Given(1);
    let wanted = true;
    for (let count = 0; count < 20; count++) given.load(`load ${count}`, 60, () => count > 0 || wanted);
    for (let page = 0; page < 20 * 40; page++) await given.arrives();
    wanted = false;
    await given.arriveAll();
    expect(given.dropped).to.be.empty;
  });

  it('ends a load whose page times out, and continues with the next', async () => {
    const given = new Given(1);
    given.load('a');
    given.load('b');
    expect(given.underWay).to.deep.equal(['a']);
    await given.clock.pass(PAGE_TIMEOUT_MS);
    expect(given.underWay).to.deep.equal(['a', 'b']);
    expect(given.dropped).to.deep.equal(['a']);
    expect(given.reasons).to.deep.equal(['the event store did not answer in time']);
  });

  it('continues after reads that throw instead of rejecting', async () => {
    const given = new Given(2);
    const load: Load = { pages: 0, expectedAt: -Infinity, wanted: () => true };
    for (let read = 0; read < 3; read++) {
      const thrown = given.queue.read(load, () => expect.fail('not connected'));
      expect(await rejection(thrown)).to.have.property('message', 'not connected');
    }
    given.load('a');
    given.load('b');
    expect(given.underWay).to.deep.equal(['a', 'b']);
  });

  it('spreads the retries of expired requests over the time that their loads take', async () => {
    const given = new Given(1);
    for (let count = 0; count < 20; count++) given.load('done');
    while (given.underWay.length > 0) {
      await given.clock.pass(100);
      await given.arrives();
    }
    const underWay = given.load('under way');
    const waiting = Array.from({ length: 200 }, () => given.load('waiting'));
    const times = waiting.map((load) => given.queue.retryAfterMs(load));

    // The average has moved from its first estimate towards the 100 ms that a load takes.
    expect(Math.max(...times)).to.be.within(200 * 20, 200 * 125);
    expect(new Set(times.map((ms) => Math.floor(ms / 1000))).size).to.be.at.least(4);
    expect(given.queue.retryAfterMs(waiting[150]!), 'the same time for the same load').to.equal(times[150]);
    expect(given.queue.retryAfterMs(underWay), 'at once for a load that has begun').to.equal(1000);
  });

  it('schedules retries by the time that a load takes, without the time in which there was none', async () => {
    const given = new Given(1);
    given.load('before');
    await given.arrives();
    await given.clock.pass(100_000);
    given.load('after');
    await given.arrives();
    expect(lastOf200Retries(given)).to.equal(200 * 12.5);
  });

  it('schedules retries by the time that long loads take', async () => {
    const given = new Given(1);
    for (const name of ['a', 'b', 'c']) given.load(name, 20);
    while (given.underWay.length > 0) {
      await given.clock.pass(100);
      await given.arrives();
    }
    expect(lastOf200Retries(given)).to.be.above(200 * 12.5);
  });

  it('refuses a herd of clients about once each, although loads become slower while they wait', async () => {
    const USERS = 400;
    const TIMEOUT_MS = 2000;
    const clock = new ManualClock();
    const queue = new LoadQueue(clock, PAGE_TIMEOUT_MS, 1);
    const start = clock.now();
    let refused = 0;
    let served = 0;
    const page = () =>
      new Promise<void>((resolve) => void clock.after(clock.now() < start + 3000 ? 40 : 56, resolve));

    for (let user = 0; user < USERS; user++) {
      let deadline = 0;
      let reading: Promise<void> | undefined;
      const load: Load = { pages: 0, expectedAt: -Infinity, wanted: () => clock.now() < deadline };
      const request = () => {
        deadline = clock.now() + TIMEOUT_MS;
        const expire = clock.after(TIMEOUT_MS, () => {
          refused++;
          clock.after(1000 * Math.ceil(queue.retryAfterMs(load) / 1000), request);
        });
        if (reading === undefined) {
          queue.began();
          reading = queue.read(load, page).then(
            () => queue.ended(true),
            (error: unknown) => {
              queue.ended(false);
              throw error;
            },
          );
        }
        reading.then(
          () => {
            if (clock.now() < deadline) served++;
            expire();
          },
          () => (reading = undefined),
        );
      };
      clock.after((1000 * user) / USERS, request);
    }
    await clock.pass(2 * USERS * 56);
    expect(served).to.equal(USERS);
    expect(refused).to.be.within(1, USERS);
  });
});
