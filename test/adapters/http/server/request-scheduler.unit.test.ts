import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { RequestScheduler, type Startable } from '../../../../src/adapters/http/server/request-scheduler';

const PER_TURN = 16;

describe('The request scheduler', () => {
  let scheduler: RequestScheduler;
  let started: string[];

  beforeEach(() => {
    scheduler = new RequestScheduler();
    started = [];
  });

  function request(name: string, lane = 'lane'): Startable {
    // The array of this test, even if the request starts after the test.
    const into = started;
    return { lane, start: () => into.push(name) };
  }
  function schedule(count: number, lane = 'lane'): void {
    for (let i = 0; i < count; i++) scheduler.schedule(request(`${lane} ${i}`, lane));
  }

  it('starts requests at once up to the bound of a turn, and the others in order in the next turns', async () => {
    schedule(2 * PER_TURN + 1);
    for (const expected of [PER_TURN, 2 * PER_TURN, 2 * PER_TURN + 1]) {
      expect([started.length, scheduler.waiting]).to.deep.equal([expected, 2 * PER_TURN + 1 - expected]);
      await turn();
    }
    expect(started).to.deep.equal(Array.from({ length: 2 * PER_TURN + 1 }, (_, i) => `lane ${i}`));
  });

  it('counts the requests of each turn separately', async () => {
    for (let i = 1; i <= 3; i++) {
      schedule(PER_TURN);
      expect(started).to.have.length(i * PER_TURN);
      await turn();
    }
  });

  it('does not start a request before waiting ones', async () => {
    schedule(3 * PER_TURN);
    await turn();
    scheduler.schedule(request('late'));
    expect(started).to.have.length(2 * PER_TURN);
    await turn();
    await turn();
    expect(started.at(-1)).to.equal('late');
  });

  it('bounds also requests that follow an immediate response', async () => {
    const again: Startable = {
      lane: 'lane',
      start: () => {
        started.push('again');
        scheduler.schedule(again);
      },
    };
    scheduler.schedule(again);
    expect(started).to.have.length(PER_TURN);
    await turn();
    expect(started).to.have.length(2 * PER_TURN);
    scheduler.cancel(again);
  });

  it('lets lanes take turns, however many requests one lane has', async () => {
    schedule(1000, 'many');
    schedule(3, 'few');
    await turn();
    expect(started.slice(PER_TURN, PER_TURN + 6)).to.deep.equal([
      'many 16',
      'few 0',
      'many 17',
      'few 1',
      'many 18',
      'few 2',
    ]);
  });

  it('starts fewer requests in a turn that accepted a connection', async () => {
    schedule(100);
    scheduler.shortenTurn();
    await turn();
    expect(started).to.have.length(PER_TURN + 4);
    await turn();
    expect(started).to.have.length(2 * PER_TURN + 4);
  });

  it('does not start a request that was cancelled', async () => {
    schedule(PER_TURN);
    const [first, second] = [request('first'), request('second')];
    scheduler.schedule(first);
    scheduler.schedule(second);
    expect(scheduler.cancel(first)).to.equal(true);
    expect(scheduler.cancel(first)).to.equal(false);
    expect(scheduler.waiting).to.equal(1);
    await turn();
    expect(started.slice(PER_TURN)).to.deep.equal(['second']);
    expect(scheduler.cancel(second)).to.equal(false);
  });
});
