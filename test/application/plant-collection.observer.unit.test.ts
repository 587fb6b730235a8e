import { expect } from 'chai';
import { created } from './asking';
import { TIMEOUT_MS, World } from './world';

describe('Whoever watches a plant collection', () => {
  it('hears of each round how many requests and trips it took', async () => {
    const world = new World();
    world.list();
    world.list();
    world.delete(1);
    await world.store.sole.answer();
    await world.store.sole.answer();

    expect(world.told).to.deep.equal(['round: 1 requests, 1 trips', 'round: 2 requests, 1 trips']);
  });

  it('hears how many events an append recorded', async () => {
    const world = new World();
    world.list();
    world.create(1, 'Fern');
    world.create(2, 'Ivy');
    world.create(2, 'Moss');
    await world.store.sole.answer();
    await world.store.sole.answer();

    expect(world.told.slice(1)).to.deep.equal(['appended 2', 'round: 3 requests, 1 trips']);
  });

  it('hears of a conflict, and of the trips that it cost', async () => {
    const world = new World({ pageSize: 1 });
    await world.othersRecord(created(4, 'Rose'));
    await world.takeIn();
    world.create(3, 'Fern');
    await world.othersRecord(created(1, 'Ivy'), created(2, 'Moss'));
    world.store.held = false;
    await world.store.sole.answer();

    expect(world.told.slice(1)).to.deep.equal(['conflict', 'appended 1', 'round: 1 requests, 3 trips']);
  });

  it('hears of none where a command is the first to need the history', async () => {
    const world = new World();
    await world.othersRecord(created(1, 'Ivy'));
    world.store.held = false;
    world.create(3, 'Fern');
    await world.clock.pass(0);

    expect(world.told).to.deep.equal(['appended 1', 'round: 1 requests, 2 trips']);
  });

  it('counts a repeated append as one append and as many trips as it took', async () => {
    const world = new World();
    world.create(1, 'Fern');
    await world.store.sole.loseReply();
    await world.clock.pass(10);
    await world.store.sole.lose();
    await world.clock.pass(20);
    await world.store.sole.answer();

    expect(world.told).to.deep.equal(['appended 1', 'round: 1 requests, 3 trips']);
  });

  it('hears, once, from which version on history was lost', async () => {
    const world = await World.knowing(created(1, 'Fern'), created(2, 'Ivy'));
    await world.store.loseTail('ada', 0);
    await world.takeIn();

    expect(world.told).to.deep.equal(['ada lost version 2', 'round: 1 requests, 2 trips']);
  });

  it('hears why a round failed', async () => {
    const world = new World();
    world.list();
    await world.store.sole.refuse();
    world.list();
    await world.store.sole.stumble();
    await world.takeIn();
    world.told.pop();
    world.list();
    world.store.sole.hang();
    await world.clock.pass(TIMEOUT_MS);
    world.create(1, 'Fern');
    world.store.sole.hang();
    await world.clock.pass(TIMEOUT_MS);

    expect(world.told).to.deep.equal([
      'ada: StoreUnavailable',
      'round: 1 requests, 1 trips',
      'ada: TypeError',
      'round: 1 requests, 1 trips',
      'ada: StoreUnavailable',
      'round: 1 requests, 1 trips',
      'ada: OutcomeUnknown',
      'round: 1 requests, 1 trips',
    ]);
  });
});
