import { expect } from 'chai';
import { OutcomeUnknown, StoreUnavailable } from '../../src/application';
import { created, deleted } from './asking';
import { TIMEOUT_MS, World } from './world';

describe('When the reply to an append is lost, a plant collection', () => {
  it('repeats the same append, and answers with success what was recorded at the first try', async () => {
    const world = new World();
    const create = world.create(1, 'Fern');
    const first = world.store.sole.question;
    await world.store.sole.loseReply();
    expect(create.outcome).to.equal('pending');

    await world.clock.pass(100);
    expect(world.store.sole.question).to.deep.equal(first);
    await world.store.sole.answer();

    expect(create.outcome).to.equal('created');
    expect(await world.recorded()).to.deep.equal(['+Fern']);
  });

  it('recognizes what it recorded although others have appended behind it since', async () => {
    const world = new World();
    const create = world.create(1, 'Fern');
    await world.store.sole.loseReply();
    await world.othersRecord(deleted(1), created(2, 'Ivy'));
    await world.clock.pass(100);
    await world.store.sole.answer();

    expect(create.outcome).to.equal('created');
    expect(await world.recorded()).to.deep.equal(['+Fern', '-1', '+Ivy']);
    expect((await world.takeIn()).outcome).to.deep.equal(['Ivy']);
  });

  it('records once what never reached the store at the first try', async () => {
    const world = new World();
    const create = world.create(1, 'Fern');
    await world.store.sole.lose();
    await world.clock.pass(100);
    await world.store.sole.answer();

    expect(create.outcome).to.equal('created');
    expect(await world.recorded()).to.deep.equal(['+Fern']);
  });

  it('records once what reached the store late, after its repetition', async () => {
    const world = new World();
    const create = world.create(1, 'Fern');
    const late = world.store.sole;
    await late.lose();
    await world.clock.pass(100);
    await world.store.sole.answer();
    await late.execute();

    expect(create.outcome).to.equal('created');
    expect(await world.recorded()).to.deep.equal(['+Fern']);
  });

  it('decides again where somebody else came first, and what then arrives late is refused', async () => {
    const world = new World();
    const create = world.create(1, 'Fern');
    const late = world.store.sole;
    await late.lose();
    await world.othersRecord(created(2, 'Ivy'));
    await world.clock.pass(100);
    await world.store.sole.answer();
    await world.store.sole.answer();
    await late.execute();

    expect(create.outcome).to.equal('created');
    expect(await world.recorded()).to.deep.equal(['+Ivy', '+Fern']);
  });

  it('goes on repeating although the store refuses meanwhile', async () => {
    const world = new World();
    const create = world.create(1, 'Fern');
    await world.store.sole.loseReply();
    for (let refusals = 0; refusals < 3; refusals++) {
      await world.clock.pass(200);
      await world.store.sole.refuse();
    }
    expect(create.outcome).to.equal('pending');

    await world.clock.pass(200);
    await world.store.sole.answer();

    expect(create.outcome).to.equal('created');
    expect(await world.recorded()).to.deep.equal(['+Fern']);
  });

  it('spaces its repetitions out, so that a store in trouble is neither hammered nor forgotten', async () => {
    const world = new World();
    world.create(1, 'Fern');
    const triedAt: number[] = [];
    for (let elapsed = 0; elapsed < TIMEOUT_MS; elapsed += 10) {
      if (world.store.calls.length > 0) triedAt.push(elapsed);
      for (const call of [...world.store.calls]) await call.lose();
      await world.clock.pass(10);
    }

    expect(triedAt).to.deep.equal([0, 10, 30, 70, 150, 310, 510, 710, 910]);
  });

  it('cannot say, when the time is up, whether the commands with an event happened; the others did not', async () => {
    const world = await World.knowing(created(1, 'Fern'));
    world.list();
    const writers = [world.create(2, 'Ivy'), world.delete(1)];
    const others = [world.list(), world.create(2, 'Moss'), world.delete(3)];
    await world.store.sole.answer();
    await world.store.sole.loseReply();
    for (let elapsed = 0; elapsed < TIMEOUT_MS; elapsed += 10) {
      for (const call of [...world.store.calls]) await call.refuse();
      await world.clock.pass(10);
    }

    for (const { error } of writers) expect(error).to.be.instanceOf(OutcomeUnknown);
    for (const { error } of others) expect(error).to.be.instanceOf(StoreUnavailable);
  });

  it('serves the next round from what was really recorded, after it could not say', async () => {
    const world = new World();
    const create = world.create(1, 'Fern');
    await world.store.sole.loseReply();
    await world.clock.pass(100);
    world.store.sole.hang();
    await world.clock.pass(TIMEOUT_MS);
    expect(create.outcome).to.equal('OutcomeUnknown');

    const again = world.create(1, 'Ivy');
    await world.store.sole.answer();

    expect(again.outcome).to.equal('id-taken');
    expect((await world.takeIn()).outcome).to.deep.equal(['Fern']);
  });

  it('takes in what arrives late, after it could not say, as anybody else’s events', async () => {
    const world = new World();
    const create = world.create(1, 'Fern');
    const late = world.store.sole;
    late.hang();
    await world.clock.pass(TIMEOUT_MS);
    expect(create.outcome).to.equal('OutcomeUnknown');

    const next = world.create(2, 'Ivy');
    await late.execute();
    await world.store.sole.answer();
    await world.store.sole.answer();

    expect(next.outcome).to.equal('created');
    expect(await world.recorded()).to.deep.equal(['+Fern', '+Ivy']);
  });

  it('refuses what arrives late, after it could not say, once others have recorded anything', async () => {
    const world = new World();
    const create = world.create(1, 'Fern');
    const late = world.store.sole;
    late.hang();
    await world.clock.pass(TIMEOUT_MS);
    const next = world.create(2, 'Ivy');
    await world.store.sole.answer();
    await late.execute();

    expect([create.outcome, next.outcome]).to.deep.equal(['OutcomeUnknown', 'created']);
    expect(await world.recorded()).to.deep.equal(['+Ivy']);
  });

  it('does not decide a command again that was told so meanwhile', async () => {
    const world = new World();
    world.list();
    const early = world.create(1, 'Fern');
    await world.clock.pass(TIMEOUT_MS / 2);
    const late = world.create(2, 'Ivy');
    await world.store.sole.answer();
    const both = world.store.sole;
    await world.clock.pass(TIMEOUT_MS / 2);
    expect([early.outcome, late.outcome]).to.deep.equal(['OutcomeUnknown', 'pending']);

    await world.othersRecord(created(3, 'Moss'));
    await both.answer();
    await world.store.sole.answer();

    expect(late.outcome).to.equal('created');
    expect(await world.recorded()).to.deep.equal(['+Moss', '+Ivy']);
  });
});

describe('A command whose outcome is unknown', () => {
  /** The store has not carried it out yet, and may still do so. */
  async function inDoubt(world: World, ask: () => { readonly outcome: unknown }) {
    const asked = ask();
    const late = world.store.sole;
    late.hang();
    await world.clock.pass(TIMEOUT_MS);
    expect(asked.outcome).to.equal('OutcomeUnknown');
    return late;
  }

  it('may still be recorded after a list without it', async () => {
    const world = new World();
    const late = await inDoubt(world, () => world.create(1, 'Fern'));
    expect((await world.takeIn()).outcome).to.deep.equal([]);
    await late.execute();
    expect((await world.takeIn()).outcome).to.deep.equal(['Fern']);
  });

  it('is never recorded once its repetition is acknowledged', async () => {
    const world = new World();
    const late = await inDoubt(world, () => world.create(1, 'Fern'));
    const again = world.create(1, 'Fern');
    await world.store.sole.answer();
    await late.execute();
    expect(again.outcome).to.equal('created');
    expect(await world.recorded()).to.deep.equal(['+Fern']);
  });

  it('was not necessarily recorded where its repetition finds the id taken, and then never is', async () => {
    const world = new World();
    const late = await inDoubt(world, () => world.create(1, 'Fern'));
    await world.othersRecord(created(1, 'Ivy'));
    const again = world.create(1, 'Fern');
    await world.store.sole.answer();
    await late.execute();
    expect(again.outcome).to.equal('id-taken');
    expect(await world.recorded()).to.deep.equal(['+Ivy']);
  });

  it('may have its repetition delete the plant that another client has created since', async () => {
    const world = await World.knowing(created(1, 'Fern'));
    const late = await inDoubt(world, () => world.delete(1));
    await late.execute();
    await world.othersRecord(created(1, 'Ivy'));
    const again = world.delete(1);
    await world.store.sole.answer();
    await world.store.sole.answer();
    expect(again.outcome).to.equal('deleted');
    expect(await world.recorded()).to.deep.equal(['+Fern', '-1', '+Ivy', '-1']);
  });
});

describe('A command that was told "unavailable"', () => {
  it('is told so at once where the store refuses its first try, and is not recorded', async () => {
    const world = new World();
    const create = world.create(1, 'Fern');
    await world.store.sole.refuse();

    expect(create.error).to.be.instanceOf(StoreUnavailable);
    await world.clock.pass(TIMEOUT_MS);
    expect(world.store.calls).to.be.empty;
    expect(await world.recorded()).to.be.empty;
  });

  it('is never recorded later, though its round goes on for the sake of others', async () => {
    const world = await World.knowing(created(1, 'Fern'));
    world.list();
    const early = world.store.sole;
    await world.clock.pass(TIMEOUT_MS / 2);
    const create = world.create(1, 'Ivy');
    await world.clock.pass(TIMEOUT_MS / 4);
    const later = world.list();
    await early.answer();
    // Rejected as things stand, so the round reads; the id comes free while that read is on its way.
    const read = world.store.sole;
    await world.othersRecord(deleted(1));
    await world.clock.pass(TIMEOUT_MS * 0.75);
    expect(create.outcome).to.equal('StoreUnavailable');
    expect(later.outcome).to.equal('pending');
    await read.answer();

    expect(later.outcome).to.deep.equal([]);
    expect(await world.recorded()).to.deep.equal(['+Fern', '-1']);
  });

  it('is told so, not "unknown", where its append was refused for good and only then the store went away', async () => {
    const world = new World({ pageSize: 1 });
    const create = world.create(3, 'Fern');
    const refused = world.store.sole;
    await world.othersRecord(created(1, 'Ivy'), created(2, 'Moss'));
    await refused.answer();
    world.store.sole.hang();
    await world.clock.pass(TIMEOUT_MS);

    expect(create.outcome).to.equal('StoreUnavailable');
    expect(await world.recorded()).to.deep.equal(['+Ivy', '+Moss']);
  });

  it('is told so where a lost reply made the round repeat, the repetition was refused for good, and the read failed', async () => {
    const world = new World({ pageSize: 1 });
    const create = world.create(3, 'Fern');
    const late = world.store.sole;
    await late.lose();
    await world.othersRecord(created(1, 'Ivy'), created(2, 'Moss'));
    await world.clock.pass(100);
    await world.store.sole.answer();
    await world.store.sole.refuse();
    await late.execute();

    expect(create.outcome).to.equal('StoreUnavailable');
    expect(await world.recorded()).to.deep.equal(['+Ivy', '+Moss']);
  });
});
