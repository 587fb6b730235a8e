import { expect } from 'chai';
import { StoreUnavailable } from '../../src/application';
import { type Asked, created } from './asking';
import { TIMEOUT_MS, World } from './world';

const outcomes = (asked: readonly Asked[]) => asked.map(({ outcome }) => outcome);

describe('While the store does not answer, a plant collection', () => {
  it('answers each request of the round when its time is up, and not before', async () => {
    const world = new World();
    const create = world.create(1, 'Fern');
    world.store.sole.hang();

    await world.clock.pass(TIMEOUT_MS - 1);
    expect(create.outcome).to.equal('pending');
    await world.clock.pass(1);
    expect(create.outcome).to.equal('OutcomeUnknown');
  });

  it('answers each waiting request when its own time is up', async () => {
    const world = new World();
    world.list();
    await world.clock.pass(100);
    const second = world.create(1, 'Fern');
    await world.clock.pass(100);
    const third = world.create(2, 'Ivy');
    // Not even the second round is answered.
    await world.clock.pass(TIMEOUT_MS - 200);
    world.store.calls.slice().forEach((call) => call.hang());

    await world.clock.pass(99);
    expect(outcomes([second, third])).to.deep.equal(['pending', 'pending']);
    await world.clock.pass(1);
    expect(second.outcome).not.to.equal('pending');
    expect(third.outcome).to.equal('pending');
    await world.clock.pass(100);
    expect(third.outcome).not.to.equal('pending');
  });

  it('tells a waiting request that nothing happened, and never sends it', async () => {
    const world = new World();
    const sent = world.create(1, 'Fern');
    const waiting = world.create(2, 'Ivy');
    await world.clock.pass(TIMEOUT_MS);
    await world.store.sole.answer();
    await world.clock.pass(TIMEOUT_MS);

    expect(outcomes([sent, waiting])).to.deep.equal(['OutcomeUnknown', 'StoreUnavailable']);
    expect(await world.recorded()).to.deep.equal(['+Fern']);
    expect(world.store.questions).to.have.length(1);
  });

  it('plays the next round as soon as no request waits for this one any more', async () => {
    const world = await World.knowing();
    world.list();
    world.store.sole.hang();
    await world.clock.pass(TIMEOUT_MS / 2);
    const waiting = world.list();
    await world.clock.pass(TIMEOUT_MS / 2);

    await world.store.sole.answer();

    expect(waiting.outcome).to.deep.equal([]);
  });

  it('goes on working afterwards, whatever the abandoned call still brings', async () => {
    const world = await World.knowing();
    world.list();
    const abandoned = world.store.sole;
    await world.clock.pass(TIMEOUT_MS);
    await world.othersRecord(created(1, 'Fern'));
    const create = world.create(2, 'Ivy');
    await abandoned.answer();
    expect(create.outcome).to.equal('pending');
    // The two calls behind it: the conflict, and the append behind Fern.
    await world.store.sole.answer();
    await world.store.sole.answer();

    expect(create.outcome).to.equal('created');
    expect((await world.takeIn()).outcome).to.deep.equal(['Fern', 'Ivy']);
  });

  it('gives up the pause before a repetition, too, when the time is up', async () => {
    const world = new World();
    world.create(1, 'Fern');
    await world.clock.pass(TIMEOUT_MS - 5);
    await world.store.sole.lose();
    const waiting = world.list();
    await world.clock.pass(5);

    expect(world.store.sole.question.kind).to.equal('read');
    await world.store.sole.answer();
    expect(waiting.outcome).to.deep.equal([]);
  });

  it('watches the time of those who ask long after it was last busy', async () => {
    const world = new World();
    await world.takeIn();
    await world.clock.pass(10 * TIMEOUT_MS);
    const listed = world.list();

    await world.clock.pass(TIMEOUT_MS);

    expect(listed.outcome).to.equal('StoreUnavailable');
  });

  it('is not hurried by an alarm that goes off a little early', async () => {
    const world = new World();
    const after = world.clock.after.bind(world.clock);
    world.clock.after = (ms, action) => after(Math.max(1, ms - 1), action);
    const listed = world.list();

    await world.clock.pass(TIMEOUT_MS - 1);
    expect(listed.outcome).to.equal('pending');
    await world.clock.pass(1);
    expect(listed.outcome).to.equal('StoreUnavailable');
  });

  it('refuses at once who would make too many wait, and serves those who wait', async () => {
    const world = new World({ maxWaiting: 2 });
    const inFlight = world.create(1, 'Fern');
    const waiting = [world.create(2, 'Ivy'), world.list()];
    const refused = [world.create(3, 'Moss'), world.list()];
    await world.clock.pass(0);
    for (const { error } of refused) expect(error).to.be.instanceOf(StoreUnavailable);

    await world.store.sole.answer();
    await world.store.sole.answer();

    expect(inFlight.outcome).to.equal('created');
    expect(outcomes(waiting)).to.deep.equal(['created', ['Fern', 'Ivy']]);
    expect(await world.recorded()).to.deep.equal(['+Fern', '+Ivy']);
  });

  it('gives up a page of a history that the store never sends, and reads it again', async () => {
    const world = new World();
    world.list();
    world.store.sole.hang();
    await world.clock.pass(2 * TIMEOUT_MS - 1);
    const listed = world.list();
    expect(world.store.calls).to.be.empty;
    await world.clock.pass(1);
    expect(listed.outcome).to.equal('StoreUnavailable');

    const again = world.list();
    await world.clock.pass(0);
    await world.store.sole.answer();
    expect(again.outcome).to.deep.equal([]);
  });

  it('has room again once those who waited were sent or gave up', async () => {
    const world = new World({ maxWaiting: 1 });
    await world.takeIn();
    world.list();
    world.store.sole.hang();
    const gaveUp = world.list();
    await world.clock.pass(TIMEOUT_MS);
    world.list();
    const waiting = world.list();
    await world.store.sole.answer();
    await world.store.sole.answer();

    expect(outcomes([gaveUp, waiting])).to.deep.equal(['StoreUnavailable', []]);
  });
});

describe('A round that failed', () => {
  it('hurts nobody in the next', async () => {
    const world = new World();
    const [refused, waiting] = [world.list(), world.create(1, 'Fern')];
    await world.store.sole.refuse();
    await world.store.sole.answer();

    expect(outcomes([refused, waiting])).to.deep.equal(['StoreUnavailable', 'created']);
  });

  it('fails all that were in it, each with what is true for it', async () => {
    const world = await World.knowing(created(1, 'Fern'));
    world.list();
    const asked = [world.create(2, 'Ivy'), world.create(1, 'Moss'), world.delete(3), world.list()];
    await world.store.sole.answer();
    await world.store.sole.refuse();

    expect(outcomes(asked)).to.deep.equal(asked.map(() => 'StoreUnavailable'));
    expect(await world.recorded()).to.deep.equal(['+Fern']);
  });

  it('calls a read whose reply was lost unavailable: a read changes nothing', async () => {
    const world = new World();
    const asked = [world.list(), world.delete(1)];
    await world.store.sole.lose();
    await world.store.sole.lose();

    expect(outcomes(asked)).to.deep.equal(['StoreUnavailable', 'StoreUnavailable']);
  });
});

describe('A bug in the store', () => {
  it('is reported as what it is to those who wrote nothing', async () => {
    const world = new World();
    const asked = [world.list(), world.delete(1)];
    await world.store.sole.stumble();
    await world.store.sole.stumble();

    expect(outcomes(asked)).to.deep.equal(['TypeError', 'TypeError']);
  });

  it('leaves unknown what became of an append, with the bug as the cause', async () => {
    const world = new World();
    world.list();
    const [writer, reader] = [world.create(1, 'Fern'), world.list()];
    await world.store.sole.answer();
    const bug = new TypeError('undefined is not a plant');
    await world.store.sole.execute();
    await world.store.sole.fail(bug);

    expect(outcomes([writer, reader])).to.deep.equal(['OutcomeUnknown', 'TypeError']);
    expect((writer.error as Error).cause).to.equal(bug);
  });

  it('is met even where the store throws instead of rejecting', async () => {
    const world = new World();
    const stumble = () => {
      throw new TypeError('undefined is not a plant');
    };
    world.store.append = stumble;
    world.store.read = stumble;
    const asked = [world.create(1, 'Fern'), world.list()];
    await world.clock.pass(0);

    expect(outcomes(asked)).to.deep.equal(['OutcomeUnknown', 'TypeError']);
  });

  it('does not outlive itself: the collection starts over from the events', async () => {
    const world = await World.knowing(created(1, 'Fern'));
    world.list();
    await world.store.sole.stumble();
    expect(world.plants.size).to.equal(0);

    expect((await world.takeIn()).outcome).to.deep.equal(['Fern']);
  });
});
