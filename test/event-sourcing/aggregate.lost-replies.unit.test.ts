import { expect } from 'chai';
import { OutcomeUnknown, StoreUnavailable } from '../../src/event-sourcing';
import { TIMEOUT_MS, OneAggregate } from './one-aggregate';
import { created, deleted } from './labels';

describe('When the reply to an append is lost, an aggregate', () => {
  it('repeats the same append, and acknowledges what the first attempt recorded', async () => {
    const fixture = new OneAggregate();
    const create = fixture.create(1, 'Fern');
    const first = fixture.store.sole.request;
    await fixture.store.sole.loseReply();
    expect(create.outcome).to.equal('pending');

    await fixture.clock.pass(100);
    expect(fixture.store.sole.request).to.deep.equal(first);
    expect(fixture.store.sole.request.events, 'encoded once').to.equal(first.events);
    await fixture.store.sole.answer();

    expect(create.outcome).to.equal('created');
    expect(await fixture.recorded()).to.deep.equal(['+Fern']);
  });

  it('recognizes its append even if others have appended after it', async () => {
    const fixture = new OneAggregate();
    const create = fixture.create(1, 'Fern');
    await fixture.store.sole.loseReply();
    await fixture.recordByOthers(deleted(1), created(2, 'Ivy'));
    await fixture.clock.pass(100);
    await fixture.store.sole.answer();

    expect(create.outcome).to.equal('created');
    expect(await fixture.recorded()).to.deep.equal(['+Fern', '-1', '+Ivy']);
    expect((await fixture.catchUp()).outcome).to.deep.equal(['Ivy']);
  });

  it('records a commit once when the first attempt arrives after the retry', async () => {
    const fixture = new OneAggregate();
    const create = fixture.create(1, 'Fern');
    const late = fixture.store.sole;
    await late.lose();
    await fixture.clock.pass(100);
    await fixture.store.sole.answer();
    await late.execute();

    expect(create.outcome).to.equal('created');
    expect(await fixture.recorded()).to.deep.equal(['+Fern']);
  });

  it('decides again after a conflict, and the late append is fenced', async () => {
    const fixture = new OneAggregate();
    const create = fixture.create(1, 'Fern');
    const late = fixture.store.sole;
    await late.lose();
    await fixture.recordByOthers(created(2, 'Ivy'));
    await fixture.clock.pass(100);
    await fixture.store.sole.answer();
    await fixture.store.sole.answer();
    await late.execute();

    expect(create.outcome).to.equal('created');
    expect(await fixture.recorded()).to.deep.equal(['+Ivy', '+Fern']);
  });

  it('keeps retrying while the store is unavailable', async () => {
    const fixture = new OneAggregate();
    const create = fixture.create(1, 'Fern');
    await fixture.store.sole.loseReply();
    for (let refusals = 0; refusals < 3; refusals++) {
      await fixture.clock.pass(200);
      await fixture.store.sole.refuse();
    }
    expect(create.outcome).to.equal('pending');

    await fixture.clock.pass(200);
    await fixture.store.sole.answer();

    expect(create.outcome).to.equal('created');
    expect(await fixture.recorded()).to.deep.equal(['+Fern']);
  });

  it('retries with exponential backoff', async () => {
    const fixture = new OneAggregate();
    fixture.create(1, 'Fern');
    const triedAt: number[] = [];
    for (let elapsed = 0; elapsed < TIMEOUT_MS; elapsed += 10) {
      if (fixture.store.calls.length > 0) triedAt.push(elapsed);
      for (const call of [...fixture.store.calls]) await call.lose();
      await fixture.clock.pass(10);
    }

    expect(triedAt).to.deep.equal([0, 10, 30, 70, 150, 310, 510, 710, 910]);
  });

  it('at the deadline, fails commands with events as unknown and the others as unavailable', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'));
    fixture.list();
    const writers = [fixture.create(2, 'Ivy'), fixture.delete(1)];
    const others = [fixture.list(), fixture.create(2, 'Moss'), fixture.delete(3)];
    await fixture.store.sole.answer();
    await fixture.store.sole.loseReply();
    for (let elapsed = 0; elapsed < TIMEOUT_MS; elapsed += 10) {
      for (const call of [...fixture.store.calls]) await call.refuse();
      await fixture.clock.pass(10);
    }

    for (const { error } of writers) expect(error).to.be.instanceOf(OutcomeUnknown);
    for (const { error } of others) expect(error).to.be.instanceOf(StoreUnavailable);
  });

  it('after an unknown outcome, serves the next round from the recorded events', async () => {
    const fixture = new OneAggregate();
    const create = fixture.create(1, 'Fern');
    await fixture.store.sole.loseReply();
    await fixture.clock.pass(100);
    fixture.store.sole.hang();
    await fixture.clock.pass(TIMEOUT_MS);
    expect(create.outcome).to.equal('OutcomeUnknown');

    const again = fixture.create(1, 'Ivy');
    await fixture.store.sole.answer();

    expect(again.outcome).to.equal('id-taken');
    expect((await fixture.catchUp()).outcome).to.deep.equal(['Fern']);
  });

  it('after an unknown outcome, applies a late append like the events of others', async () => {
    const fixture = new OneAggregate();
    const create = fixture.create(1, 'Fern');
    const late = fixture.store.sole;
    late.hang();
    await fixture.clock.pass(TIMEOUT_MS);
    expect(create.outcome).to.equal('OutcomeUnknown');

    const next = fixture.create(2, 'Ivy');
    await late.execute();
    await fixture.store.sole.answer();
    await fixture.store.sole.answer();

    expect(next.outcome).to.equal('created');
    expect(await fixture.recorded()).to.deep.equal(['+Fern', '+Ivy']);
  });

  it('does not decide a command again after it expired', async () => {
    const fixture = new OneAggregate();
    fixture.list();
    const early = fixture.create(1, 'Fern');
    await fixture.clock.pass(TIMEOUT_MS / 2);
    const late = fixture.create(2, 'Ivy');
    await fixture.store.sole.answer();
    const both = fixture.store.sole;
    await fixture.clock.pass(TIMEOUT_MS / 2);
    expect([early.outcome, late.outcome]).to.deep.equal(['OutcomeUnknown', 'pending']);

    await fixture.recordByOthers(created(3, 'Moss'));
    await both.answer();
    await fixture.store.sole.answer();

    expect(late.outcome).to.equal('created');
    expect(await fixture.recorded()).to.deep.equal(['+Moss', '+Ivy']);
  });
});

describe('A command whose outcome is unknown', () => {
  /** The store has not executed it yet, and may still do so. */
  async function inDoubt(fixture: OneAggregate, ask: () => { readonly outcome: unknown }) {
    const pending = ask();
    const late = fixture.store.sole;
    late.hang();
    await fixture.clock.pass(TIMEOUT_MS);
    expect(pending.outcome).to.equal('OutcomeUnknown');
    return late;
  }

  it('may still be recorded after a list without it', async () => {
    const fixture = new OneAggregate();
    const late = await inDoubt(fixture, () => fixture.create(1, 'Fern'));
    expect((await fixture.catchUp()).outcome).to.deep.equal([]);
    await late.execute();
    expect((await fixture.catchUp()).outcome).to.deep.equal(['Fern']);
  });

  it('is never recorded after its retry was acknowledged', async () => {
    const fixture = new OneAggregate();
    const late = await inDoubt(fixture, () => fixture.create(1, 'Fern'));
    const again = fixture.create(1, 'Fern');
    await fixture.store.sole.answer();
    await late.execute();
    expect(again.outcome).to.equal('created');
    expect(await fixture.recorded()).to.deep.equal(['+Fern']);
  });

  it('was not necessarily recorded when its retry finds the id taken, and then never is', async () => {
    const fixture = new OneAggregate();
    const late = await inDoubt(fixture, () => fixture.create(1, 'Fern'));
    await fixture.recordByOthers(created(1, 'Ivy'));
    const again = fixture.create(1, 'Fern');
    await fixture.store.sole.answer();
    await late.execute();
    expect(again.outcome).to.equal('id-taken');
    expect(await fixture.recorded()).to.deep.equal(['+Ivy']);
  });

  it('may have a retry that deletes the plant that another client created since', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'));
    const late = await inDoubt(fixture, () => fixture.delete(1));
    await late.execute();
    await fixture.recordByOthers(created(1, 'Ivy'));
    const again = fixture.delete(1);
    await fixture.store.sole.answer();
    await fixture.store.sole.answer();
    expect(again.outcome).to.equal('deleted');
    expect(await fixture.recorded()).to.deep.equal(['+Fern', '-1', '+Ivy', '-1']);
  });
});

describe('A command that failed as unavailable', () => {
  it('fails at once when the store refuses its first attempt, and is not recorded', async () => {
    const fixture = new OneAggregate();
    const create = fixture.create(1, 'Fern');
    await fixture.store.sole.refuse();

    expect(create.error).to.be.instanceOf(StoreUnavailable);
    await fixture.clock.pass(TIMEOUT_MS);
    expect(fixture.store.calls).to.be.empty;
    expect(await fixture.recorded()).to.be.empty;
  });

  it('is never recorded later, even if its round continues for other requests', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'));
    fixture.list();
    const early = fixture.store.sole;
    await fixture.clock.pass(TIMEOUT_MS / 2);
    const create = fixture.create(1, 'Ivy');
    await fixture.clock.pass(TIMEOUT_MS / 4);
    const later = fixture.list();
    await early.answer();
    // Rejected against the current state, so the round reads; the id becomes free while that read is in flight.
    const read = fixture.store.sole;
    await fixture.recordByOthers(deleted(1));
    await fixture.clock.pass(TIMEOUT_MS * 0.75);
    expect(create.outcome).to.equal('StoreUnavailable');
    expect(later.outcome).to.equal('pending');
    await read.answer();

    expect(later.outcome).to.deep.equal([]);
    expect(await fixture.recorded()).to.deep.equal(['+Fern', '-1']);
  });

  it('is not unknown when its append conflicted and then the store became unavailable', async () => {
    const fixture = new OneAggregate({ pageSize: 1 });
    const create = fixture.create(3, 'Fern');
    const refused = fixture.store.sole;
    await fixture.recordByOthers(created(1, 'Ivy'), created(2, 'Moss'));
    await refused.answer();
    fixture.store.sole.hang();
    await fixture.clock.pass(TIMEOUT_MS);

    expect(create.outcome).to.equal('StoreUnavailable');
    expect(await fixture.recorded()).to.deep.equal(['+Ivy', '+Moss']);
  });

  it('is not unknown when the retry after a lost reply conflicted and then the read failed', async () => {
    const fixture = new OneAggregate({ pageSize: 1 });
    const create = fixture.create(3, 'Fern');
    const late = fixture.store.sole;
    await late.lose();
    await fixture.recordByOthers(created(1, 'Ivy'), created(2, 'Moss'));
    await fixture.clock.pass(100);
    await fixture.store.sole.answer();
    await fixture.store.sole.refuse();
    await late.execute();

    expect(create.outcome).to.equal('StoreUnavailable');
    expect(await fixture.recorded()).to.deep.equal(['+Ivy', '+Moss']);
  });
});
