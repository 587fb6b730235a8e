import { expect } from 'chai';
import { created, deleted } from './asking';
import { World } from './world';

describe('When somebody else has appended first, a plant collection', () => {
  it('takes the newer events in, decides again and records behind them', async () => {
    const world = new World();
    const create = world.create(1, 'Fern');
    const listed = world.list();
    await world.othersRecord(created(2, 'Ivy'));

    await world.store.sole.answer();
    expect(create.outcome).to.equal('pending');
    await world.store.sole.answer();
    await world.store.sole.answer();

    expect(create.outcome).to.equal('created');
    expect(listed.outcome).to.deep.equal(['Ivy', 'Fern']);
    expect(await world.recorded()).to.deep.equal(['+Ivy', '+Fern']);
  });

  it('appends anew under a fresh commit id, since the old one was refused for good', async () => {
    const world = new World();
    world.create(1, 'Fern');
    const refused = world.store.sole.question;
    await world.othersRecord(created(2, 'Ivy'));
    await world.store.sole.answer();

    expect(world.store.sole.question.commit).not.to.equal(refused.commit);
  });

  it('records each command once, however often it must decide again', async () => {
    const world = new World();
    const create = world.create(1, 'Fern');
    for (const id of [2, 3, 4, 5]) {
      await world.othersRecord(created(id, `Moss ${id}`));
      await world.store.sole.answer();
    }
    await world.store.sole.answer();

    expect(create.outcome).to.equal('created');
    expect(await world.recorded()).to.deep.equal(['+Moss 2', '+Moss 3', '+Moss 4', '+Moss 5', '+Fern']);
  });

  it('records what is still due and drops what no longer is', async () => {
    const world = await World.knowing(created(1, 'Fern'));
    world.list();
    const asked = [world.create(2, 'Ivy'), world.delete(1), world.create(3, 'Moss')];
    await world.store.sole.answer();
    await world.othersRecord(created(2, 'Aloe'), deleted(1));

    await world.store.sole.answer();
    await world.store.sole.answer();

    expect(asked.map(({ outcome }) => outcome)).to.deep.equal(['id-taken', 'no-such-plant', 'created']);
    expect(await world.recorded()).to.deep.equal(['+Fern', '+Aloe', '-1', '+Moss']);
  });

  it('answers without another trip where nothing is left to record', async () => {
    const world = new World();
    world.list();
    const create = world.create(1, 'Fern');
    const listed = world.list();
    await world.store.sole.answer();
    await world.othersRecord(created(1, 'Ivy'));

    await world.store.sole.answer();

    expect([create.outcome, listed.outcome]).to.deep.equal(['id-taken', ['Ivy']]);
    expect(world.store.calls).to.be.empty;
  });

  it('reads on while there is more than the conflict brought, and only then decides', async () => {
    const world = new World({ pageSize: 2 });
    const create = world.create(5, 'Fern');
    await world.othersRecord(...[1, 2, 3, 4, 5].map((id) => created(id, `Moss ${id}`)));

    await world.store.sole.answer();
    expect(world.store.sole.question).to.deep.include({
      kind: 'read',
      after: { version: 2, commit: 'stranger-2' },
    });
    await world.store.sole.answer();
    expect(world.store.sole.question.after.version).to.equal(4);
    await world.store.sole.answer();

    expect(create.outcome).to.equal('id-taken');
    expect(world.store.calls).to.be.empty;
  });

  it('asks for the next page before it has taken the last one in', async () => {
    const world = new World({ pageSize: 1 });
    await world.othersRecord(created(1, 'Fern'), created(2, 'Ivy'));
    world.list();
    let sizeWhenAsked: number | undefined;
    const read = world.store.read.bind(world.store);
    world.store.read = (stream, after) => {
      sizeWhenAsked = world.plants.size;
      return read(stream, after);
    };

    await world.store.sole.answer();

    expect(sizeWhenAsked).to.equal(0);
    expect(world.plants.size).to.equal(1);
  });
});
