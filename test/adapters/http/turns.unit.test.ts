import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { FairScheduler, type Lane } from '../../../src/adapters/http/turns';
import type { User } from '../../../src/application';

const [ADA, BOB] = ['ada', 'bob'] as User[] as [User, User];

describe('The scheduler', () => {
  it('starts 16 requests per turn of the event loop, fewer with new clients, alternating between users', async () => {
    const scheduler = new FairScheduler({ now: () => 0, after: () => () => {} });
    const started: Lane[] = [];
    const ask = (lane: Lane, isFirst = false) => {
      const wait = scheduler.admit(lane, isFirst);
      if (wait) void wait.then(() => started.push(lane));
      else started.push(lane);
    };
    for (let count = 0; count < 40; count++) ask(ADA);
    ask(BOB);
    expect(started).to.have.length(16);
    ask(BOB, true);
    await turn();
    expect(started.slice(16)).to.deep.equal([ADA, BOB, ADA, BOB]);
    while (started.length < 42) await turn();
  });

  it('starts no further request in a turn of the event loop that has taken two milliseconds', async () => {
    let now = 0;
    const started: Lane[] = [];
    const scheduler = new FairScheduler({ now: () => now, after: () => () => {} });
    const ask = (lane: Lane) => {
      const run = () => (started.push(lane), (now += 1.5));
      // Verifying a token takes its time only after some promises.
      const wait = scheduler.admit(lane, false)?.then(() => Promise.resolve().then(run));
      if (wait === undefined) run();
    };
    for (let count = 0; count < 5; count++) ask(ADA);
    expect(started).to.have.length(2);
    ask(BOB);
    await turn();
    expect(started.slice(2)).to.deep.equal([ADA, BOB]);
    now += 10;
    await turn();
    expect(started.slice(4)).to.deep.equal([ADA, ADA]);
  });

  it('does one piece of long work per turn of the event loop, alternating between users', async () => {
    const scheduler = new FairScheduler();
    const done: Lane[] = [];
    const work = (lane: Lane) => scheduler.do(lane, () => done.push(lane));
    const all = Promise.all([work(ADA), work(ADA), work(ADA), work(BOB)]);
    expect(done).to.deep.equal([ADA]);
    await turn();
    expect(done.length).to.be.at.most(2);
    await all;
    // The first of Ada's began before Bob asked.
    expect(done).to.deep.equal([ADA, ADA, BOB, ADA]);
  });

  it('leaves other users as much time as long work has taken, if they have requests', async () => {
    let [now, done] = [0, 0];
    const pauses: (readonly [ms: number, end: () => void])[] = [];
    const scheduler = new FairScheduler({
      now: () => now,
      after: (ms, end) => (pauses.push([ms, end]), () => {}),
    });
    /** @param isShared Bob asks for a request meanwhile. */
    const work = (ms: number, isShared: boolean) =>
      scheduler.do(ADA, () => {
        now += ms;
        done++;
        if (isShared) void scheduler.admit(BOB, false);
      });
    const all = [work(20, true), work(30, false), work(40, true), work(50, false)];
    for (const [doneSoFar, ms] of [
      [1, 20],
      [3, 40],
    ]) {
      for (let turns = 0; turns < 5; turns++) await turn();
      expect([done, pauses.map(([pause]) => pause)]).to.deep.equal([doneSoFar, [ms]]);
      pauses.pop()![1]();
    }
    await Promise.all(all);
    expect(pauses).to.deep.equal([]);
  });

  it('rejects only the work that throws', async () => {
    const scheduler = new FairScheduler();
    const failing = scheduler.do(ADA, () => {
      throw new TypeError('a bug');
    });
    const next = scheduler.do(ADA, () => 'done');
    expect(await failing.catch(String)).to.equal('TypeError: a bug');
    expect(await next).to.equal('done');
  });
});
