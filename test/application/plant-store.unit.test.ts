import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import { system } from '../../src/adapters/system';
import { PlantStore, parseUser, plantStreamOf } from '../../src/application';
import { NewPlant, type Plant, type PlantId } from '../../src/domain';
import { BEGINNING, type CallOptions } from '../../src/event-sourcing';
import { newPlant, plantId } from '../support/given';
import { rejection } from '../support/rejection';

const ADA = parseUser('ada')!;

describe('The plant store', () => {
  let store: MemoryEventStore;
  let plants: PlantStore;
  beforeEach(() => {
    store = new MemoryEventStore();
    plants = new PlantStore({ ...system(), store });
  });

  it('keeps the plants of a user in a stream whose name never changes, because histories contain it', () => {
    expect(plantStreamOf(ADA)).to.equal('plants/ada');
  });

  const fern = newPlant(1, 'Fern');
  /** Creates what a caller without types may pass. */
  const untyped = (plant: unknown) => () => plants.create(ADA, plant as NewPlant);
  for (const [what, message, call] of [
    ['an empty name', 'name must be', untyped({ id: '1', plant: { name: '' } })],
    ['a tag of null', 'tag must be', untyped({ id: '1', plant: { name: 'Fern', tag: null } })],
    ['the id 01 of a plant to create', 'id must be', untyped({ id: '01', plant: fern.plant })],
    [
      'a number as the id of a plant to create',
      'id must be',
      untyped({ id: 1, plant: fern.plant }),
    ],
    ['a plant without members', 'name must be', untyped({ id: '1' })],
    ['null as the members of a plant', 'name must be', untyped({ id: '1', plant: null })],
    ['undefined as a plant', 'id must be', untyped(undefined)],
    ['the id +1 of a plant to delete', 'id must be', () => plants.delete(ADA, '+1' as never)],
    ['a number as the id of a plant to delete', 'id must be', () => plants.delete(ADA, 7 as never)],
    ['an empty user', 'the id of a stream must be', () => plants.list('' as never)],
    ['a limit of NaN', 'limit must be', () => plants.list(ADA, { limit: NaN })],
    ['a limit of 1.5', 'limit must be', () => plants.list(ADA, { limit: 1.5 })],
    ['a page after position -1', 'after must be', () => plants.list(ADA, { after: -1 })],
  ] as const)
    it(`rejects ${what} with TypeError, records nothing, and fails no other call of the round`, async () => {
      const neighbours = [plants.create(ADA, newPlant(2, 'Moss')), plants.list(ADA)];
      const error = await call().catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(TypeError).with.property('message').that.contains(message);
      await Promise.all(neighbours);
      expect(await store.read(plantStreamOf(ADA), BEGINNING))
        .to.have.property('events')
        .with.length(1);
    });

  for (const [what, call] of [
    ['create', (options) => plants.create(ADA, fern, options)],
    ['delete', (options) => plants.delete(ADA, fern.id, options)],
    ['list', (options) => plants.list(ADA, {}, options)],
  ] satisfies [string, (options: CallOptions) => Promise<unknown>][])
    it(`lets the caller of ${what} set its deadline, and writes nothing after that`, async () => {
      expect(await rejection(call({ timeoutMs: 0 }))).to.have.property('name', 'StoreUnavailable');
      expect(await store.head(plantStreamOf(ADA))).to.equal(undefined);
      await call({ timeoutMs: 60_000 });
    });

  it('lists all plants, or those that a query selects, with the head of the stream', async () => {
    for (const id of [1, 2, 3]) await plants.create(ADA, newPlant(id, `Fern ${id}`));
    const { head, page } = await plants.list(ADA, { limit: 2 });
    expect([[...page], page.next]).to.deep.equal([[{ name: 'Fern 1' }, { name: 'Fern 2' }], 2]);
    expect(head.version).to.equal(3);
    expect([...(await plants.list(ADA)).page]).to.have.length(3);
    const { page: empty } = await plants.list(ADA, { limit: 0, after: 1 });
    expect([[...empty], empty.next]).to.deep.equal([[], 1]);
    expect((await plants.delete(ADA, plantId(4))).rejection).to.equal('no-such-plant');
  });

  it('creates only a parsed plant: a NewPlant can be made in no other way, and cannot be changed', () => {
    const isParsed: { id: PlantId; plant: Plant } extends NewPlant ? true : false = false;
    expect(isParsed).to.equal(false);
    expect(() => void Reflect.construct(NewPlant, ['01', { name: '' }])).to.throw(TypeError);
    // @ts-expect-error: it is read-only, and frozen
    expect(() => (fern.plant.name = '')).to.throw(TypeError);
    expect(() => Object.assign(fern, { id: '01' })).to.throw(TypeError);
  });

  it('records a copy of the plant that an untyped caller passes', async () => {
    const plant = { name: 'Fern', owner: 'eve' };
    const created = plants.create(ADA, { id: '1', plant } as never);
    plant.name = '';
    await created;
    expect([...(await plants.list(ADA)).page]).to.deep.equal([{ name: 'Fern' }]);
  });
});
