import { expect } from 'chai';
import { type EncodedEvent, UnreadableHistory } from '../../src/event-sourcing';
import { TIMEOUT_MS, OneAggregate } from './one-aggregate';
import { codec, created, deleted, encoded } from './labels';

describe('When the store has lost the tail of the history, an aggregate', () => {
  it('reloads the stream and serves the events that are left', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'), created(2, 'Ivy'));
    await fixture.store.loseTail('ada', 1);

    expect((await fixture.catchUp()).outcome).to.deep.equal(['Fern']);
    expect(fixture.observed).to.include('ada lost version 2');
  });

  it('detects it even if another history has reached the same version', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'), created(2, 'Ivy'));
    await fixture.store.loseTail('ada', 1);
    await fixture.recordByOthers(created(3, 'Moss'));

    expect((await fixture.catchUp()).outcome).to.deep.equal(['Fern', 'Moss']);
  });

  it('detects it by an append, too, and decides against the current history', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'), created(2, 'Ivy'));
    fixture.list();
    const pending = [fixture.create(3, 'Moss'), fixture.create(2, 'Aloe'), fixture.delete(1)];
    await fixture.store.sole.answer();
    await fixture.store.loseTail('ada', 1);
    const append = fixture.store.sole;
    fixture.store.held = false;
    await append.answer();

    expect(pending.map(({ outcome }) => outcome)).to.deep.equal(['created', 'created', 'deleted']);
    expect(await fixture.recorded()).to.deep.equal(['+Fern', '+Moss', '+Aloe', '-1']);
  });

  it('leaves the outcome of an unconfirmed commit unknown, because a late attempt may still be recorded', async () => {
    const fixture = new OneAggregate();
    await fixture.recordByOthers(created(1, 'Fern'), created(2, 'Ivy'));
    const lostHead = (await fixture.store.history('ada'))[1]!;
    await fixture.catchUp();
    const create = fixture.create(3, 'Moss');
    const late = fixture.store.sole;
    await late.lose();
    await fixture.store.loseTail('ada', 1);
    await fixture.clock.pass(100);
    await fixture.store.sole.answer();
    expect(create.error).to.include({
      name: 'OutcomeUnknown',
      message: 'the history was lost before the write was confirmed',
    });

    // The other instance repeats its append, and the history has the lost head again.
    const fern = (await fixture.store.history('ada'))[0]!;
    fixture.store.held = false;
    await fixture.store.append('ada', fern, lostHead.commit, encoded(lostHead.event));
    await late.execute();
    expect(await fixture.recorded()).to.deep.equal(['+Fern', '+Ivy', '+Moss']);
    expect((await fixture.catchUp()).outcome).to.deep.equal(['Fern', 'Ivy', 'Moss']);
  });

  it('answers the other requests of a round with an unconfirmed commit', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'), created(2, 'Ivy'));
    const first = fixture.list();
    const requests = [fixture.create(3, 'Moss'), fixture.list()];
    await fixture.store.sole.answer();
    await fixture.store.sole.loseReply();
    await fixture.store.loseTail('ada', 1);
    await fixture.clock.pass(100);
    const repeated = fixture.store.sole;
    fixture.store.held = false;
    await repeated.answer();

    expect(first.outcome).to.deep.equal(['Fern', 'Ivy']);
    expect(requests.map(({ outcome }) => outcome)).to.deep.equal(['OutcomeUnknown', ['Fern']]);
    expect(await fixture.recorded()).to.deep.equal(['+Fern']);
  });

  it('does not treat events applied before the loss as current', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'));
    const remove = fixture.delete(1);
    await fixture.recordByOthers(created(2, 'Ivy'));
    await fixture.store.sole.answer();
    await fixture.store.loseTail('ada', 1);
    const append = fixture.store.sole;
    fixture.store.held = false;
    await append.answer();

    expect(remove.outcome).to.equal('deleted');
    expect(await fixture.recorded()).to.deep.equal(['+Fern', '-1']);
  });

  it('detects it between two pages of a load', async () => {
    const fixture = new OneAggregate({ pageSize: 1 });
    await fixture.recordByOthers(created(1, 'Fern'), created(2, 'Ivy'), created(3, 'Moss'));
    const listed = fixture.list();
    await fixture.store.sole.answer();
    await fixture.store.sole.answer();
    await fixture.store.loseTail('ada', 1);
    await fixture.recordByOthers(created(4, 'Aloe'));
    const third = fixture.store.sole;
    fixture.store.held = false;
    await third.answer();

    expect(listed.outcome).to.deep.equal(['Fern', 'Aloe']);
    expect(fixture.observed).to.include('ada lost version 2');
  });

  it('serves an empty list if all events were lost', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'));
    await fixture.store.loseTail('ada', 0);

    expect((await fixture.catchUp()).outcome).to.deep.equal([]);
  });
});

describe('When the history is invalid, an aggregate', () => {
  it('fails the round with a history that the rules could not have produced, and records nothing', async () => {
    const fixture = new OneAggregate();
    await fixture.recordByOthers(deleted(1));
    const create = fixture.create(2, 'Ivy');
    await fixture.store.sole.answer();

    expect(create.outcome).to.equal('UnreadableHistory');
    expect(await fixture.recorded()).to.deep.equal(['-1']);
  });

  it('recovers when the history is valid again', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'));
    await fixture.recordByOthers(created(2, 'Ivy'), deleted(3));
    expect((await fixture.catchUp()).outcome).to.equal('UnreadableHistory');
    await fixture.store.loseTail('ada', 2);

    expect((await fixture.catchUp()).outcome).to.deep.equal(['Fern', 'Ivy']);
  });

  it('handles the rejection of a prefetched page', async () => {
    const unheard: unknown[] = [];
    const note = (reason: unknown) => void unheard.push(reason);
    process.on('unhandledRejection', note);
    try {
      const fixture = new OneAggregate({ pageSize: 1 });
      await fixture.recordByOthers(deleted(1), created(2, 'Ivy'));
      const listed = fixture.list();
      await fixture.store.sole.answer();
      expect(listed.outcome).to.equal('UnreadableHistory');
      await fixture.store.sole.lose();
    } finally {
      process.off('unhandledRejection', note);
    }

    expect(unheard).to.be.empty;
  });

  it('rejects a gap between two versions', async () => {
    const fixture = new OneAggregate();
    const listed = fixture.list();
    const [event] = encoded(created(1, 'Fern'));
    await fixture.store.sole.answerWith({
      status: 'read',
      events: [{ version: 2, commit: 'other-writer-2', ...event! }],
      more: false,
    });

    expect(listed.error).to.include({
      name: 'UnreadableHistory',
      message: 'event 2 found, expected version 1',
    });
    expect((await fixture.catchUp()).outcome).to.deep.equal([]);
  });

  it('fails the round for an empty page with `more`, and serves later requests', async () => {
    const fixture = new OneAggregate();
    await fixture.recordByOthers(created(1, 'Fern'));
    const listed = fixture.list();
    await fixture.store.sole.answerWith({ status: 'read', events: [], more: true });

    expect(listed.error).to.have.property('name', 'Error');
    expect((await fixture.catchUp()).outcome).to.deep.equal(['Fern']);
  });

  it('fails the round if the store cannot read the history, and keeps its state', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'));
    const listed = fixture.list();
    await fixture.store.sole.fail(new UnreadableHistory('event 2 is of a newer format'));

    expect(listed.error).to.be.instanceOf(UnreadableHistory);
    expect(fixture.aggregate.items).to.equal(1);
    expect((await fixture.catchUp()).outcome).to.deep.equal(['Fern']);
  });
});

describe('A long history', () => {
  const names = ['Fern', 'Ivy', 'Moss', 'Aloe', 'Sage'];
  const long = names.map((name, index) => created(index + 1, name));

  it('is loaded page by page, then the request is answered', async () => {
    const fixture = new OneAggregate({ pageSize: 2 });
    await fixture.recordByOthers(...long);

    expect((await fixture.catchUp()).outcome).to.deep.equal(names);
    expect(fixture.store.requests.map(({ after }) => after.version)).to.deep.equal([0, 2, 4]);
  });

  it('is read on before the events of a page are decoded', async () => {
    const requests: number[] = [];
    const decode = (encoded: EncodedEvent) => {
      requests.push(fixture.store.requests.length);
      return codec.decode(encoded);
    };
    const fixture: OneAggregate = new OneAggregate({ pageSize: 1, codec: { ...codec, decode } });
    await fixture.recordByOthers(...long.slice(0, 3));
    await fixture.catchUp();
    expect(requests).to.deep.equal([2, 3, 3]);
  });

  it('is loaded across expired requests: pages that were read are kept', async () => {
    const fixture = new OneAggregate({ pageSize: 2 });
    await fixture.recordByOthers(...long);
    const early = fixture.list();
    await fixture.store.sole.answer();
    await fixture.store.sole.answer();
    await fixture.clock.pass(TIMEOUT_MS);
    expect(early.error).to.include({ name: 'StoreUnavailable', reason: 'loading', retryAfterMs: 1000 });
    const latePage = fixture.store.sole;

    const later = fixture.list();
    await fixture.clock.pass(TIMEOUT_MS / 2);
    expect(fixture.store.sole, 'the page that is under way is not requested again').to.equal(latePage);
    await latePage.answer();
    // That page may have been read before the request arrived.
    expect(later.outcome).to.equal('pending');
    expect(fixture.store.sole.request.after.version).to.equal(5);
    await fixture.store.sole.answer();

    expect(later.outcome).to.deep.equal(names);
  });

  it('continues to load while no request waits, for the next one', async () => {
    const fixture = new OneAggregate({ pageSize: 2 });
    await fixture.recordByOthers(...long);
    const early = fixture.list();
    await fixture.store.sole.answer();
    await fixture.clock.pass(TIMEOUT_MS);
    expect(early.outcome).to.equal('StoreUnavailable');
    await fixture.store.sole.answer();
    await fixture.clock.pass(0);
    await fixture.store.sole.answer();

    const later = fixture.list();
    expect(fixture.store.sole.request.after.version).to.equal(5);
    await fixture.store.sole.answer();
    expect(later.outcome).to.deep.equal(names);
  });

  it('is loaded by commands, too, and each is decided against all of it', async () => {
    const fixture = new OneAggregate({ pageSize: 2 });
    await fixture.recordByOthers(...long);
    fixture.store.held = false;
    const pending = [fixture.create(5, 'Fig'), fixture.delete(1), fixture.create(6, 'Fig')];
    await fixture.clock.pass(0);

    expect(pending.map(({ outcome }) => outcome)).to.deep.equal(['id-taken', 'deleted', 'created']);
    expect((await fixture.catchUp()).outcome).to.deep.equal(['Ivy', 'Moss', 'Aloe', 'Sage', 'Fig']);
  });
});
