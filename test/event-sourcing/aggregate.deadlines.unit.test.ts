import { expect } from 'chai';
import { StoreUnavailable } from '../../src/event-sourcing';
import { LoadQueue } from '../../src/event-sourcing/loading/load-queue';
import { ManualClock } from '../support/manual-clock';
import type { RequestOutcome } from '../support/pending-request';
import { TIMEOUT_MS, OneAggregate } from './one-aggregate';
import { created } from './labels';

const outcomes = (pending: readonly { readonly outcome: RequestOutcome }[]) =>
  pending.map(({ outcome }) => outcome);

describe('While the store does not respond, an aggregate', () => {
  it('fails each request of the round at its deadline, and not earlier', async () => {
    const fixture = new OneAggregate();
    const create = fixture.create(1, 'Fern');
    fixture.store.sole.hang();

    await fixture.clock.pass(TIMEOUT_MS - 1);
    expect(create.outcome).to.equal('pending');
    await fixture.clock.pass(1);
    expect(create.outcome).to.equal('OutcomeUnknown');
    expect(create.error).to.include({ message: 'the event store did not confirm the write in time' });
  });

  it('fails each waiting request at its own deadline', async () => {
    const fixture = new OneAggregate();
    fixture.list();
    await fixture.clock.pass(100);
    const second = fixture.create(1, 'Fern');
    await fixture.clock.pass(100);
    const third = fixture.create(2, 'Ivy');
    // The second round is not answered, either.
    await fixture.clock.pass(TIMEOUT_MS - 200);
    fixture.store.calls.slice().forEach((call) => call.hang());

    await fixture.clock.pass(99);
    expect(outcomes([second, third])).to.deep.equal(['pending', 'pending']);
    await fixture.clock.pass(1);
    expect(second.outcome).not.to.equal('pending');
    expect(third.outcome).to.equal('pending');
    await fixture.clock.pass(100);
    expect(third.outcome).not.to.equal('pending');
  });

  it('fails an expired waiting request as unavailable, and never sends it', async () => {
    const fixture = new OneAggregate();
    const sent = fixture.create(1, 'Fern');
    const waiting = fixture.create(2, 'Ivy');
    await fixture.clock.pass(TIMEOUT_MS);
    await fixture.store.sole.answer();
    await fixture.clock.pass(TIMEOUT_MS);

    expect(outcomes([sent, waiting])).to.deep.equal(['OutcomeUnknown', 'StoreUnavailable']);
    expect(waiting.error).to.include({ message: 'the event store did not answer in time', reason: 'store' });
    expect(await fixture.recorded()).to.deep.equal(['+Fern']);
    expect(fixture.store.requests).to.have.length(1);
  });

  it('starts the next round when all requests of this one have expired', async () => {
    const fixture = await OneAggregate.loadedWith();
    fixture.list();
    fixture.store.sole.hang();
    await fixture.clock.pass(TIMEOUT_MS / 2);
    const waiting = fixture.list();
    await fixture.clock.pass(TIMEOUT_MS / 2);

    await fixture.store.sole.answer();

    expect(waiting.outcome).to.deep.equal([]);
  });

  it('ignores the result of an abandoned call', async () => {
    const fixture = await OneAggregate.loadedWith();
    fixture.list();
    const abandoned = fixture.store.sole;
    await fixture.clock.pass(TIMEOUT_MS);
    await fixture.recordByOthers(created(1, 'Fern'));
    const create = fixture.create(2, 'Ivy');
    await abandoned.answer();
    expect(create.outcome).to.equal('pending');
    // Two calls after it: the conflict, and the append after Fern.
    await fixture.store.sole.answer();
    await fixture.store.sole.answer();

    expect(create.outcome).to.equal('created');
    expect((await fixture.catchUp()).outcome).to.deep.equal(['Fern', 'Ivy']);
  });

  it('abandons the pause before a retry, too, at the deadline', async () => {
    const fixture = new OneAggregate();
    fixture.create(1, 'Fern');
    await fixture.clock.pass(TIMEOUT_MS - 5);
    await fixture.store.sole.lose();
    const waiting = fixture.list();
    await fixture.clock.pass(5);

    expect(fixture.store.sole.request.kind).to.equal('read');
    await fixture.store.sole.answer();
    expect(waiting.outcome).to.deep.equal([]);
  });

  it('enforces the deadlines of requests that arrive after an idle time', async () => {
    const fixture = new OneAggregate();
    await fixture.catchUp();
    await fixture.clock.pass(10 * TIMEOUT_MS);
    const listed = fixture.list();

    await fixture.clock.pass(TIMEOUT_MS);

    expect(listed.outcome).to.equal('StoreUnavailable');
  });

  it('does not expire a request when its timer fires early', async () => {
    const fixture = new OneAggregate();
    const after = fixture.clock.after.bind(fixture.clock);
    fixture.clock.after = (ms, action) => after(Math.max(1, ms - 1), action);
    const listed = fixture.list();

    await fixture.clock.pass(TIMEOUT_MS - 1);
    expect(listed.outcome).to.equal('pending');
    await fixture.clock.pass(1);
    expect(listed.outcome).to.equal('StoreUnavailable');
  });

  it('refuses requests beyond the queue limit at once, and answers those in the queue', async () => {
    const fixture = new OneAggregate({ maxWaiting: 2 });
    const inFlight = fixture.create(1, 'Fern');
    const waiting = [fixture.create(2, 'Ivy'), fixture.list()];
    const refused = [fixture.create(3, 'Moss'), fixture.list()];
    await fixture.clock.pass(0);
    for (const { error } of refused) {
      expect(error).to.be.instanceOf(StoreUnavailable);
      expect(error).to.include({
        message: 'too many requests are waiting for the event store',
        reason: 'waiting_requests',
      });
    }

    await fixture.store.sole.answer();
    await fixture.store.sole.answer();

    expect(inFlight.outcome).to.equal('created');
    expect(outcomes(waiting)).to.deep.equal(['created', ['Fern', 'Ivy']]);
    expect(await fixture.recorded()).to.deep.equal(['+Fern', '+Ivy']);
  });

  it('says when to retry a request whose history is not loading yet', async () => {
    const clock = new ManualClock();
    const noReads = new LoadQueue(clock, 2 * TIMEOUT_MS, 0);
    const fixture = new OneAggregate({ clock, loads: noReads });
    const listed = fixture.list();
    await clock.pass(TIMEOUT_MS);
    expect(listed.error).to.include({ name: 'StoreUnavailable', reason: 'loading', retryAfterMs: 1000 });
  });

  it('abandons a page of a history without a reply, and reads it again', async () => {
    const fixture = new OneAggregate();
    fixture.list();
    fixture.store.sole.hang();
    await fixture.clock.pass(2 * TIMEOUT_MS - 1);
    const listed = fixture.list();
    expect(fixture.store.calls).to.be.empty;
    await fixture.clock.pass(1);
    expect(listed.error).to.include({
      name: 'StoreUnavailable',
      message: 'the event store did not answer in time',
    });

    const again = fixture.list();
    await fixture.clock.pass(0);
    await fixture.store.sole.answer();
    expect(again.outcome).to.deep.equal([]);
  });

  it('accepts requests again after the waiting ones were sent or expired', async () => {
    const fixture = new OneAggregate({ maxWaiting: 1 });
    await fixture.catchUp();
    fixture.list();
    fixture.store.sole.hang();
    const gaveUp = fixture.list();
    await fixture.clock.pass(TIMEOUT_MS);
    fixture.list();
    const waiting = fixture.list();
    await fixture.store.sole.answer();
    await fixture.store.sole.answer();

    expect(outcomes([gaveUp, waiting])).to.deep.equal(['StoreUnavailable', []]);
  });
});

describe('A failed round', () => {
  it('fails no request of the next round', async () => {
    const fixture = new OneAggregate();
    const [refused, waiting] = [fixture.list(), fixture.create(1, 'Fern')];
    await fixture.store.sole.refuse();
    await fixture.store.sole.answer();

    expect(outcomes([refused, waiting])).to.deep.equal(['StoreUnavailable', 'created']);
  });

  it('fails each of its requests with the error that applies to it', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'));
    fixture.list();
    const pending = [fixture.create(2, 'Ivy'), fixture.create(1, 'Moss'), fixture.delete(3), fixture.list()];
    await fixture.store.sole.answer();
    await fixture.store.sole.refuse();

    expect(outcomes(pending)).to.deep.equal(pending.map(() => 'StoreUnavailable'));
    expect(await fixture.recorded()).to.deep.equal(['+Fern']);
  });

  it('fails a read whose reply was lost as unavailable: a read changes nothing', async () => {
    const fixture = new OneAggregate();
    const pending = [fixture.list(), fixture.delete(1)];
    await fixture.store.sole.lose();
    await fixture.store.sole.lose();

    expect(outcomes(pending)).to.deep.equal(['StoreUnavailable', 'StoreUnavailable']);
    for (const { error } of pending) expect(error).to.have.property('message', 'the round failed');
  });
});

describe('A bug in the store', () => {
  it('is passed on to requests without events', async () => {
    const fixture = new OneAggregate();
    const pending = [fixture.list(), fixture.delete(1)];
    await fixture.store.sole.failWithBug();
    await fixture.store.sole.failWithBug();

    expect(outcomes(pending)).to.deep.equal(['TypeError', 'TypeError']);
  });

  it('makes the outcome of an append unknown, with the bug as its cause', async () => {
    const fixture = new OneAggregate();
    fixture.list();
    const [writer, reader] = [fixture.create(1, 'Fern'), fixture.list()];
    await fixture.store.sole.answer();
    const bug = new TypeError('undefined is not a label');
    await fixture.store.sole.execute();
    await fixture.store.sole.fail(bug);

    expect(outcomes([writer, reader])).to.deep.equal(['OutcomeUnknown', 'TypeError']);
    expect(writer.error).to.include({ message: 'the write may have been recorded', cause: bug });
  });

  it('is handled even if the store throws instead of rejecting', async () => {
    const fixture = new OneAggregate();
    const failWithBug = () => {
      throw new TypeError('undefined is not a label');
    };
    fixture.store.append = failWithBug;
    fixture.store.read = failWithBug;
    const pending = [fixture.create(1, 'Fern'), fixture.list()];
    await fixture.clock.pass(0);

    expect(outcomes(pending)).to.deep.equal(['OutcomeUnknown', 'TypeError']);
  });

  it('makes the aggregate reload the stream', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'));
    fixture.list();
    await fixture.store.sole.failWithBug();
    expect(fixture.aggregate.items).to.equal(0);

    expect((await fixture.catchUp()).outcome).to.deep.equal(['Fern']);
  });
});
