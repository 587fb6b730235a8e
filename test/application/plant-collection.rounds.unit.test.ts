import { expect } from 'chai';
import { created, deleted } from './asking';
import { TIMEOUT_MS, World } from './world';

describe('A round of a plant collection', () => {
  it('takes a lone request to the store at once', () => {
    const world = new World();

    world.create(1, 'Fern');

    expect(world.store.sole.question.events).to.deep.equal([created(1, 'Fern')]);
  });

  it('is one trip for all requests that came while it was put off, in the order of their arrival', async () => {
    const begin: (() => void)[] = [];
    const world = new World({ gather: (start) => begin.push(start) });
    const asked = [world.create(1, 'Fern'), world.delete(1), world.create(1, 'Moss'), world.list()];
    expect(world.store.calls, 'calls while it is put off').to.have.length(0);
    expect(begin, 'put off once for all of them').to.have.length(1);

    begin.pop()!();
    await world.store.sole.answer();
    expect(await world.recorded()).to.deep.equal(['+Fern', '-1', '+Moss']);
    expect(asked.map(({ outcome }) => outcome)).to.deep.equal(['created', 'deleted', 'created', ['Moss']]);
    expect(world.told.at(-1)).to.equal('round: 4 requests, 1 trips');

    // Whoever came in flight has waited long enough; whoever finds it idle may be joined again.
    world.list();
    begin.pop()!();
    world.list();
    await world.store.sole.answer();
    await world.store.sole.answer();
    expect(begin).to.have.length(0);
    expect(world.told.slice(-2)).to.deep.equal(Array(2).fill('round: 1 requests, 1 trips'));
  });

  it('is not begun for requests whose time ran out while it was put off', async () => {
    const world = new World({ gather: () => {} });
    const asked = world.create(1, 'Fern');
    await world.clock.pass(TIMEOUT_MS);
    expect(asked.outcome).to.equal('StoreUnavailable');
  });

  it('is one trip for all requests that arrived while the last one was in flight', async () => {
    const world = new World();
    const first = world.create(1, 'Fern');
    const later = [world.create(2, 'Ivy'), world.list(), world.delete(1), world.create(3, 'Moss')];

    await world.store.sole.answer();
    expect(first.outcome).to.equal('created');
    expect(later.map(({ outcome }) => outcome)).to.deep.equal(later.map(() => 'pending'));

    const trip = world.store.sole;
    expect(trip.question.events).to.deep.equal([created(2, 'Ivy'), deleted(1), created(3, 'Moss')]);
    await trip.answer();
    expect(later.map(({ outcome }) => outcome)).to.deep.equal([
      'created',
      ['Ivy', 'Moss'],
      'deleted',
      'created',
    ]);
    expect(world.store.calls).to.be.empty;
  });

  it('is not joined once it has been sent: a query asked meanwhile sees what was recorded meanwhile', async () => {
    const world = new World();
    const early = world.list();
    const trip = world.store.sole;
    await trip.execute();
    await world.othersRecord(created(1, 'Fern'));
    const late = world.list();

    await trip.answer();
    expect(early.outcome).to.deep.equal([]);
    expect(late.outcome).to.equal('pending');

    await world.store.sole.answer();
    expect(late.outcome).to.deep.equal(['Fern']);
  });

  it('is not joined while it repeats an append, either', async () => {
    const world = new World();
    world.create(1, 'Fern');
    await world.store.sole.lose();
    const late = world.create(2, 'Ivy');

    await world.clock.pass(100);

    expect(world.store.sole.question.events).to.deep.equal([created(1, 'Fern')]);
    await world.store.sole.answer();
    expect(late.outcome).to.equal('pending');
  });

  it('decides its commands in the order of their arrival, each knowing what the earlier ones brought about', async () => {
    const world = new World();
    world.list();
    const asked = [
      world.create(1, 'Fern'),
      world.create(1, 'Ivy'),
      world.delete(1),
      world.delete(1),
      world.create(1, 'Moss'),
    ];

    await world.store.sole.answer();
    await world.store.sole.answer();

    expect(asked.map(({ outcome }) => outcome)).to.deep.equal([
      'created',
      'id-taken',
      'deleted',
      'no-such-plant',
      'created',
    ]);
    expect(await world.recorded()).to.deep.equal(['+Fern', '-1', '+Moss']);
  });

  it('answers queries and rejections by a read when it brings about nothing', async () => {
    const world = await World.knowing(created(1, 'Fern'));
    const taken = world.create(1, 'Ivy');

    expect(world.store.sole.question).to.include({ kind: 'read' });
    await world.store.sole.answer();

    expect(taken.outcome).to.equal('id-taken');
    expect(await world.recorded()).to.deep.equal(['+Fern']);
  });

  it('never answers from memory: even a list that nobody changed costs a trip', async () => {
    const world = await World.knowing(created(1, 'Fern'));
    await world.othersRecord(created(2, 'Ivy'));

    const listed = world.list();
    expect(listed.outcome).to.equal('pending');
    await world.store.sole.answer();

    expect(listed.outcome).to.deep.equal(['Fern', 'Ivy']);
  });

  it('appends behind the version and the commit that it knows, under a commit id of its own', async () => {
    const world = await World.knowing(created(1, 'Fern'));
    world.create(2, 'Ivy');
    const first = world.store.sole.question;
    await world.store.sole.answer();
    world.create(3, 'Moss');
    const second = world.store.sole.question;

    expect(first.after).to.include({ version: 1, commit: 'stranger-1' });
    expect(second.after).to.deep.equal({ version: 2, commit: first.commit });
    expect(second.commit).not.to.equal(first.commit);
  });

  it('gives a listing the head of exactly the history that it shows', async () => {
    const world = await World.knowing(created(1, 'Fern'));
    const before = world.list();
    await world.store.sole.answer();
    world.create(2, 'Ivy');
    const { commit } = world.store.sole.question;
    const after = world.list();
    await world.store.sole.answer();
    await world.store.sole.answer();

    expect(before.head).to.deep.equal({ version: 1, commit: 'stranger-1' });
    expect(after.head).to.deep.equal({ version: 2, commit });
  });
});

describe('A rejection', () => {
  it('is not told where the id came free after the round had begun: the plant is created', async () => {
    const world = await World.knowing(created(1, 'Fern'));
    const create = world.create(1, 'Ivy');
    await world.othersRecord(deleted(1));

    await world.store.sole.answer();
    expect(create.outcome).to.equal('pending');
    await world.store.sole.answer();

    expect(create.outcome).to.equal('created');
    expect(await world.recorded()).to.deep.equal(['+Fern', '-1', '+Ivy']);
  });

  it('is not told where the plant appeared after the round had begun: it is deleted', async () => {
    const world = new World();
    const remove = world.delete(1);
    await world.othersRecord(created(1, 'Fern'));

    await world.store.sole.answer();
    await world.store.sole.answer();

    expect(remove.outcome).to.equal('deleted');
    expect(await world.recorded()).to.deep.equal(['+Fern', '-1']);
  });

  it('is told where the id was taken after the round had begun', async () => {
    const world = new World();
    const create = world.create(1, 'Ivy');
    await world.othersRecord(created(1, 'Fern'));

    await world.store.sole.answer();

    expect(create.outcome).to.equal('id-taken');
    expect(await world.recorded()).to.deep.equal(['+Fern']);
  });
});
