import { expect } from 'chai';
import { UnreadableHistory } from '../../src/application';
import { created, deleted } from './asking';
import { TIMEOUT_MS, World } from './world';

describe('When the store has lost the tail of the history, a plant collection', () => {
  it('starts over and serves what the store still has', async () => {
    const world = await World.knowing(created(1, 'Fern'), created(2, 'Ivy'));
    await world.store.loseTail('ada', 1);

    expect((await world.takeIn()).outcome).to.deep.equal(['Fern']);
    expect(world.told).to.include('ada lost version 2');
  });

  it('notices even where another history has reached the same version', async () => {
    const world = await World.knowing(created(1, 'Fern'), created(2, 'Ivy'));
    await world.store.loseTail('ada', 1);
    await world.othersRecord(created(3, 'Moss'));

    expect((await world.takeIn()).outcome).to.deep.equal(['Fern', 'Moss']);
  });

  it('notices by an append, too, and decides by the history that there is', async () => {
    const world = await World.knowing(created(1, 'Fern'), created(2, 'Ivy'));
    world.list();
    const asked = [world.create(3, 'Moss'), world.create(2, 'Aloe'), world.delete(1)];
    await world.store.sole.answer();
    await world.store.loseTail('ada', 1);
    const append = world.store.sole;
    world.store.held = false;
    await append.answer();

    expect(asked.map(({ outcome }) => outcome)).to.deep.equal(['created', 'created', 'deleted']);
    expect(await world.recorded()).to.deep.equal(['+Fern', '+Moss', '+Aloe', '-1']);
  });

  it('records anew what was lost with the tail before it was acknowledged', async () => {
    const world = await World.knowing(created(1, 'Fern'), created(2, 'Ivy'));
    const create = world.create(3, 'Moss');
    await world.store.sole.loseReply();
    await world.store.loseTail('ada', 1);
    await world.clock.pass(100);
    const repeated = world.store.sole;
    world.store.held = false;
    await repeated.answer();

    expect(create.outcome).to.equal('created');
    expect(await world.recorded()).to.deep.equal(['+Fern', '+Moss']);
  });

  it('does not take for current, after that, what it took in before', async () => {
    const world = await World.knowing(created(1, 'Fern'));
    const remove = world.delete(1);
    await world.othersRecord(created(2, 'Ivy'));
    await world.store.sole.answer();
    await world.store.loseTail('ada', 1);
    const append = world.store.sole;
    world.store.held = false;
    await append.answer();

    expect(remove.outcome).to.equal('deleted');
    expect(await world.recorded()).to.deep.equal(['+Fern', '-1']);
  });

  it('notices between two pages of a history that it is taking in', async () => {
    const world = new World({ pageSize: 1 });
    await world.othersRecord(created(1, 'Fern'), created(2, 'Ivy'), created(3, 'Moss'));
    const listed = world.list();
    await world.store.sole.answer();
    await world.store.sole.answer();
    await world.store.loseTail('ada', 1);
    await world.othersRecord(created(4, 'Aloe'));
    const third = world.store.sole;
    world.store.held = false;
    await third.answer();

    expect(listed.outcome).to.deep.equal(['Fern', 'Aloe']);
    expect(world.told).to.include('ada lost version 2');
  });

  it('serves an empty list where everything was lost', async () => {
    const world = await World.knowing(created(1, 'Fern'));
    await world.store.loseTail('ada', 0);

    expect((await world.takeIn()).outcome).to.deep.equal([]);
  });
});

describe('When the history makes no sense, a plant collection', () => {
  it('fails the round with a history that the rules could not have produced, and records nothing', async () => {
    const world = new World();
    await world.othersRecord(deleted(1));
    const create = world.create(2, 'Ivy');
    await world.store.sole.answer();

    expect(create.outcome).to.equal('UnreadableHistory');
    expect(await world.recorded()).to.deep.equal(['-1']);
  });

  it('recovers when the history is well again', async () => {
    const world = await World.knowing(created(1, 'Fern'));
    await world.othersRecord(created(2, 'Ivy'), deleted(3));
    expect((await world.takeIn()).outcome).to.equal('UnreadableHistory');
    await world.store.loseTail('ada', 2);

    expect((await world.takeIn()).outcome).to.deep.equal(['Fern', 'Ivy']);
  });

  it('hears out the next page, which was on its way already, so that its failure ends no process', async () => {
    const unheard: unknown[] = [];
    const note = (reason: unknown) => void unheard.push(reason);
    process.on('unhandledRejection', note);
    try {
      const world = new World({ pageSize: 1 });
      await world.othersRecord(deleted(1), created(2, 'Ivy'));
      const listed = world.list();
      await world.store.sole.answer();
      expect(listed.outcome).to.equal('UnreadableHistory');
      await world.store.sole.lose();
    } finally {
      process.off('unhandledRejection', note);
    }

    expect(unheard).to.be.empty;
  });

  it('does not skip over a gap between two versions', async () => {
    const world = new World();
    const listed = world.list();
    const event = created(1, 'Fern');
    await world.store.sole.pretend({
      status: 'read',
      events: [{ version: 2, commit: 'stranger-2', event }],
      more: false,
    });

    expect(listed.outcome).to.equal('Error');
    expect((await world.takeIn()).outcome).to.deep.equal([]);
  });

  it('does not take an empty page for the end where more is promised', async () => {
    const world = new World();
    await world.othersRecord(created(1, 'Fern'));
    const listed = world.list();
    await world.store.sole.pretend({ status: 'read', events: [], more: true });
    await world.store.sole.answer();

    expect(listed.outcome).to.deep.equal(['Fern']);
  });

  it('passes on that the store cannot read it, and keeps what it knows', async () => {
    const world = await World.knowing(created(1, 'Fern'));
    const listed = world.list();
    await world.store.sole.fail(new UnreadableHistory('event 2 is of a newer format'));

    expect(listed.error).to.be.instanceOf(UnreadableHistory);
    expect(world.plants.size).to.equal(1);
    expect((await world.takeIn()).outcome).to.deep.equal(['Fern']);
  });
});

describe('A long history', () => {
  const names = ['Fern', 'Ivy', 'Moss', 'Aloe', 'Sage'];
  const long = names.map((name, index) => created(index + 1, name));

  it('is taken in page by page, then the request is answered', async () => {
    const world = new World({ pageSize: 2 });
    await world.othersRecord(...long);

    expect((await world.takeIn()).outcome).to.deep.equal(names);
    expect(world.store.questions.map(({ after }) => after.version)).to.deep.equal([0, 2, 4]);
  });

  it('is taken in across requests where time runs out: what was read is kept', async () => {
    const world = new World({ pageSize: 2 });
    await world.othersRecord(...long);
    const early = world.list();
    await world.store.sole.answer();
    await world.store.sole.answer();
    await world.clock.pass(TIMEOUT_MS);
    expect(early.outcome).to.equal('StoreUnavailable');
    const latePage = world.store.sole;

    const later = world.list();
    await world.clock.pass(TIMEOUT_MS / 2);
    expect(world.store.sole, 'the page that is under way is not requested again').to.equal(latePage);
    await latePage.answer();
    // That page may have been read before the request came.
    expect(later.outcome).to.equal('pending');
    expect(world.store.sole.question.after.version).to.equal(5);
    await world.store.sole.answer();

    expect(later.outcome).to.deep.equal(names);
  });

  it('goes on being taken in while no request waits, and is there for the next one', async () => {
    const world = new World({ pageSize: 2 });
    await world.othersRecord(...long);
    const early = world.list();
    await world.store.sole.answer();
    await world.clock.pass(TIMEOUT_MS);
    expect(early.outcome).to.equal('StoreUnavailable');
    await world.store.sole.answer();
    await world.store.sole.answer();

    const later = world.list();
    expect(world.store.sole.question.after.version).to.equal(5);
    await world.store.sole.answer();
    expect(later.outcome).to.deep.equal(names);
  });

  it('is taken in by commands, too, and each is decided by all of it', async () => {
    const world = new World({ pageSize: 2 });
    await world.othersRecord(...long);
    world.store.held = false;
    const asked = [world.create(5, 'Fig'), world.delete(1), world.create(6, 'Fig')];
    await world.clock.pass(0);

    expect(asked.map(({ outcome }) => outcome)).to.deep.equal(['id-taken', 'deleted', 'created']);
    expect((await world.takeIn()).outcome).to.deep.equal(['Ivy', 'Moss', 'Aloe', 'Sage', 'Fig']);
  });
});
