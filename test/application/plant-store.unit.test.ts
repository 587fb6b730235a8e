import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import { system } from '../../src/adapters/system';
import { PlantStore, parseUser, plantsOf } from '../../src/application';
import { BEGINNING } from '../../src/event-sourcing';
import { newPlant, plantId } from '../support/given';

const ADA = parseUser('ada')!;

describe('The plant store', () => {
  let store: MemoryEventStore;
  let plants: PlantStore;
  beforeEach(() => {
    store = new MemoryEventStore();
    plants = new PlantStore({ ...system(), store });
  });

  const fern = newPlant(1, 'Fern');
  for (const [what, message, call] of [
    ['an empty name', 'name must be', () => plants.create(ADA, { ...fern, plant: { name: '' } })],
    ['an id to create of 01', 'id must be', () => plants.create(ADA, { ...fern, id: '01' as never })],
    ['an id to delete of +1', 'id must be', () => plants.delete(ADA, '+1' as never)],
    ['an empty user', 'the id of a stream must be', () => plants.list('' as never)],
    ['a limit of NaN', 'limit must be', () => plants.list(ADA, { limit: NaN })],
    ['an end of the page before at -1', 'after must be', () => plants.list(ADA, { after: -1 })],
  ] as const)
    it(`rejects ${what} with a TypeError, records nothing, and fails no other call of the round`, async () => {
      const neighbours = [plants.create(ADA, newPlant(2, 'Moss')), plants.list(ADA)];
      const error = await call().catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(TypeError).with.property('message').that.contains(message);
      await Promise.all(neighbours);
      expect(await store.read(plantsOf(ADA), BEGINNING))
        .to.have.property('events')
        .with.length(1);
    });

  it('lists all plants by default, or what a query selects, at a head', async () => {
    for (const id of [1, 2, 3]) await plants.create(ADA, newPlant(id, `Fern ${id}`));
    const { head, ...listing } = await plants.list(ADA, { limit: 2 });
    expect(listing).to.deep.equal({ plants: [{ name: 'Fern 1' }, { name: 'Fern 2' }], next: 2 });
    expect(head.version).to.equal(3);
    expect((await plants.list(ADA)).plants).to.have.length(3);
    expect(await plants.list(ADA, { limit: 0, after: 1 })).to.deep.include({ plants: [], next: 1 });
    expect((await plants.delete(ADA, plantId(4))).rejection).to.equal('no-such-plant');
  });

  it('records a copy of a plant', async () => {
    const plant = { name: 'Fern', owner: 'eve' };
    const created = plants.create(ADA, { ...fern, plant });
    plant.name = '';
    await created;
    expect((await plants.list(ADA)).plants).to.deep.equal([{ name: 'Fern' }]);
  });
});
