import { expect } from 'chai';
import { TIMEOUT_MS, OneAggregate } from './one-aggregate';
import { created, deleted, encoded } from './labels';

describe('A round of an aggregate', () => {
  it('is one store call for all requests that arrived while its start was postponed, in order', async () => {
    const begin: (() => void)[] = [];
    const fixture = new OneAggregate({ gather: (start) => begin.push(start) });
    const pending = [fixture.create(1, 'Fern'), fixture.delete(1), fixture.create(1, 'Moss'), fixture.list()];
    expect(fixture.store.calls, 'calls while it is postponed').to.have.length(0);
    expect(begin, 'postponed once for all of them').to.have.length(1);

    begin.pop()!();
    await fixture.store.sole.answer();
    expect(await fixture.recorded()).to.deep.equal(['+Fern', '-1', '+Moss']);
    expect(pending.map(({ outcome }) => outcome)).to.deep.equal(['created', 'deleted', 'created', ['Moss']]);
    expect(fixture.observed.at(-1)).to.equal('round: 4 requests, 1 store calls');

    // A round that follows another starts at once; a round of an idle aggregate is postponed again.
    fixture.list();
    begin.pop()!();
    fixture.list();
    await fixture.store.sole.answer();
    await fixture.store.sole.answer();
    expect(begin).to.have.length(0);
    expect(fixture.observed.slice(-2)).to.deep.equal(Array(2).fill('round: 1 requests, 1 store calls'));
  });

  it('makes no store call for requests that expired while it was postponed', async () => {
    const begin: (() => void)[] = [];
    const fixture = new OneAggregate({ gather: (start) => begin.push(start) });
    fixture.list();
    begin.pop()!();
    await fixture.store.sole.answer();
    fixture.store.requests.length = 0;
    const pending = fixture.create(1, 'Fern');
    await fixture.clock.pass(TIMEOUT_MS);
    expect(pending.outcome).to.equal('StoreUnavailable');

    begin.pop()!();
    await fixture.clock.pass(0);
    expect(fixture.store.requests).to.have.length(0);
  });

  it('is one store call for all requests that arrived while the last round was in flight', async () => {
    const fixture = new OneAggregate();
    const first = fixture.create(1, 'Fern');
    const later = [fixture.create(2, 'Ivy'), fixture.list(), fixture.delete(1), fixture.create(3, 'Moss')];

    await fixture.store.sole.answer();
    expect(first.outcome).to.equal('created');
    expect(later.map(({ outcome }) => outcome)).to.deep.equal(later.map(() => 'pending'));

    const call = fixture.store.sole;
    expect(call.request.events).to.deep.equal(encoded(created(2, 'Ivy'), deleted(1), created(3, 'Moss')));
    await call.answer();
    expect(later.map(({ outcome }) => outcome)).to.deep.equal([
      'created',
      ['Ivy', 'Moss'],
      'deleted',
      'created',
    ]);
    expect(fixture.store.calls).to.be.empty;
  });

  it('is not joined while it is in flight: a later query sees the events recorded meanwhile', async () => {
    const fixture = new OneAggregate();
    const early = fixture.list();
    const call = fixture.store.sole;
    await call.execute();
    await fixture.recordByOthers(created(1, 'Fern'));
    const late = fixture.list();

    await call.answer();
    expect(early.outcome).to.deep.equal([]);
    expect(late.outcome).to.equal('pending');

    await fixture.store.sole.answer();
    expect(late.outcome).to.deep.equal(['Fern']);
  });

  it('is not joined while it retries an append', async () => {
    const fixture = new OneAggregate();
    fixture.create(1, 'Fern');
    await fixture.store.sole.lose();
    const late = fixture.create(2, 'Ivy');

    await fixture.clock.pass(100);

    expect(fixture.store.sole.request.events).to.deep.equal(encoded(created(1, 'Fern')));
    await fixture.store.sole.answer();
    expect(late.outcome).to.equal('pending');
  });

  it('decides its commands in order of arrival, each after the events of the earlier ones', async () => {
    const fixture = new OneAggregate();
    fixture.list();
    const pending = [
      fixture.create(1, 'Fern'),
      fixture.create(1, 'Ivy'),
      fixture.delete(1),
      fixture.delete(1),
      fixture.create(1, 'Moss'),
    ];

    await fixture.store.sole.answer();
    await fixture.store.sole.answer();

    expect(pending.map(({ outcome }) => outcome)).to.deep.equal([
      'created',
      'id-taken',
      'deleted',
      'no-such-id',
      'created',
    ]);
    expect(await fixture.recorded()).to.deep.equal(['+Fern', '-1', '+Moss']);
  });

  it('reads before it answers when there are only queries and rejections', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'));
    const taken = fixture.create(1, 'Ivy');

    expect(fixture.store.sole.request).to.include({ kind: 'read' });
    await fixture.store.sole.answer();

    expect(taken.outcome).to.equal('id-taken');
    expect(await fixture.recorded()).to.deep.equal(['+Fern']);
  });

  it('never answers from memory alone: a query of an unchanged list makes a store call', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'));
    await fixture.recordByOthers(created(2, 'Ivy'));

    const listed = fixture.list();
    expect(listed.outcome).to.equal('pending');
    await fixture.store.sole.answer();

    expect(listed.outcome).to.deep.equal(['Fern', 'Ivy']);
  });

  it('appends at the known head, with a new commit id', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'));
    fixture.create(2, 'Ivy');
    const first = fixture.store.sole.request;
    await fixture.store.sole.answer();
    fixture.create(3, 'Moss');
    const second = fixture.store.sole.request;

    expect(first.after).to.include({ version: 1, commit: 'other-writer-1' });
    expect(second.after).to.deep.equal({ version: 2, commit: first.commit });
    expect(second.commit).not.to.equal(first.commit);
  });

  it('returns a listing with the head of its history', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'));
    const before = fixture.list();
    await fixture.store.sole.answer();
    fixture.create(2, 'Ivy');
    const { commit } = fixture.store.sole.request;
    const after = fixture.list();
    await fixture.store.sole.answer();
    await fixture.store.sole.answer();

    expect(before.answer?.head).to.deep.equal({ version: 1, commit: 'other-writer-1' });
    expect(after.answer?.head).to.deep.equal({ version: 2, commit });
  });
});

describe('A rejection', () => {
  it('is decided again when the id became free after the round started: the plant is created', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'));
    const create = fixture.create(1, 'Ivy');
    await fixture.recordByOthers(deleted(1));

    await fixture.store.sole.answer();
    expect(create.outcome).to.equal('pending');
    await fixture.store.sole.answer();

    expect(create.outcome).to.equal('created');
    expect(await fixture.recorded()).to.deep.equal(['+Fern', '-1', '+Ivy']);
  });

  it('is decided again when the plant was created after the round started: it is deleted', async () => {
    const fixture = new OneAggregate();
    const remove = fixture.delete(1);
    await fixture.recordByOthers(created(1, 'Fern'));

    await fixture.store.sole.answer();
    await fixture.store.sole.answer();

    expect(remove.outcome).to.equal('deleted');
    expect(await fixture.recorded()).to.deep.equal(['+Fern', '-1']);
  });

  it('is returned when the id was taken after the round started', async () => {
    const fixture = new OneAggregate();
    const create = fixture.create(1, 'Ivy');
    await fixture.recordByOthers(created(1, 'Fern'));

    await fixture.store.sole.answer();

    expect(create.outcome).to.equal('id-taken');
    expect(await fixture.recorded()).to.deep.equal(['+Fern']);
  });
});
