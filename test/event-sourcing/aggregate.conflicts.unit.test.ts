import { expect } from 'chai';
import { OneAggregate } from './one-aggregate';
import { created, deleted } from './labels';

describe('After a conflict, an aggregate', () => {
  it('applies the newer events, decides again and appends after them', async () => {
    const fixture = new OneAggregate();
    const create = fixture.create(1, 'Fern');
    const listed = fixture.list();
    await fixture.recordByOthers(created(2, 'Ivy'));

    await fixture.store.sole.answer();
    expect(create.outcome).to.equal('pending');
    await fixture.store.sole.answer();
    await fixture.store.sole.answer();

    expect(create.outcome).to.equal('created');
    expect(listed.outcome).to.deep.equal(['Ivy', 'Fern']);
    expect(await fixture.recorded()).to.deep.equal(['+Ivy', '+Fern']);
  });

  it('appends with a new commit id', async () => {
    const fixture = new OneAggregate();
    fixture.create(1, 'Fern');
    const refused = fixture.store.sole.request;
    await fixture.recordByOthers(created(2, 'Ivy'));
    await fixture.store.sole.answer();

    expect(fixture.store.sole.request.commit).not.to.equal(refused.commit);
  });

  it('records each command once, after any number of conflicts', async () => {
    const fixture = new OneAggregate();
    const create = fixture.create(1, 'Fern');
    for (const id of [2, 3, 4, 5]) {
      await fixture.recordByOthers(created(id, `Moss ${id}`));
      await fixture.store.sole.answer();
    }
    await fixture.store.sole.answer();

    expect(create.outcome).to.equal('created');
    expect(await fixture.recorded()).to.deep.equal(['+Moss 2', '+Moss 3', '+Moss 4', '+Moss 5', '+Fern']);
  });

  it('records the commands that are still accepted, and rejects the others', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'));
    fixture.list();
    const pending = [fixture.create(2, 'Ivy'), fixture.delete(1), fixture.create(3, 'Moss')];
    await fixture.store.sole.answer();
    await fixture.recordByOthers(created(2, 'Aloe'), deleted(1));

    await fixture.store.sole.answer();
    await fixture.store.sole.answer();

    expect(pending.map(({ outcome }) => outcome)).to.deep.equal(['id-taken', 'no-such-id', 'created']);
    expect(await fixture.recorded()).to.deep.equal(['+Fern', '+Aloe', '-1', '+Moss']);
  });

  it('answers without another store call when no event is left to record', async () => {
    const fixture = new OneAggregate();
    fixture.list();
    const create = fixture.create(1, 'Fern');
    const listed = fixture.list();
    await fixture.store.sole.answer();
    await fixture.recordByOthers(created(1, 'Ivy'));

    await fixture.store.sole.answer();

    expect([create.outcome, listed.outcome]).to.deep.equal(['id-taken', ['Ivy']]);
    expect(fixture.store.calls).to.be.empty;
  });

  it('reads all pages of newer events before it decides again', async () => {
    const fixture = new OneAggregate({ pageSize: 2 });
    const create = fixture.create(5, 'Fern');
    await fixture.recordByOthers(...[1, 2, 3, 4, 5].map((id) => created(id, `Moss ${id}`)));

    await fixture.store.sole.answer();
    expect(fixture.store.sole.request).to.deep.include({
      kind: 'read',
      after: { version: 2, commit: 'other-writer-2' },
    });
    await fixture.store.sole.answer();
    expect(fixture.store.sole.request.after.version).to.equal(4);
    await fixture.store.sole.answer();

    expect(create.outcome).to.equal('id-taken');
    expect(fixture.store.calls).to.be.empty;
  });

  it('prefetches the next page while it applies the last one', async () => {
    const fixture = new OneAggregate({ pageSize: 1 });
    await fixture.recordByOthers(created(1, 'Fern'), created(2, 'Ivy'));
    fixture.list();
    let sizeWhenAsked: number | undefined;
    const read = fixture.store.read.bind(fixture.store);
    fixture.store.read = (stream, after) => {
      sizeWhenAsked = fixture.aggregate.items;
      return read(stream, after);
    };

    await fixture.store.sole.answer();

    expect(sizeWhenAsked).to.equal(0);
    expect(fixture.aggregate.items).to.equal(1);
  });
});
