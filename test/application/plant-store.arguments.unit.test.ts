import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import { system } from '../../src/adapters/system';
import { PlantStore, USER_RULE, type User, parseUser } from '../../src/application';
import { NewPlant, type PlantId, canonicalInteger } from '../../src/domain';
import { RUNS, allMembers } from '../domain/arbitraries';
import { newPlant, plantId } from '../support/given';
import { SELECTIONS } from '../support/list-queries';

const ADA = parseUser('ada')!;

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'fulfilled',
    (error: unknown) => error,
  );
}

describe('A call of the plant store with an invalid argument', () => {
  const store = new MemoryEventStore();
  const plants = new PlantStore({ ...system(), store });
  const wrong: Record<string, readonly [call: () => Promise<unknown>, message: string]> = {
    'a plant that NewPlant.from did not make': [
      () => plants.create(ADA, { id: '1', name: '' } as unknown as NewPlant),
      'a plant must come from NewPlant.from',
    ],
    'a copy of one that it made': [
      () => plants.create(ADA, Object.assign({}, newPlant(1, 'Fern'))),
      'a plant must come from NewPlant.from',
    ],
    'no plant': [() => plants.create(ADA, undefined as unknown as NewPlant), 'must come from NewPlant.from'],
    'an id that is not canonical': [
      () => plants.delete(ADA, '01' as PlantId),
      'the id of a plant must come from parsePlantId',
    ],
    'an id that is a number': [
      () => plants.delete(ADA, 1 as unknown as PlantId),
      'the id of a plant must come from parsePlantId',
    ],
    'an empty user': [() => plants.list('' as User), `a user must be ${USER_RULE}`],
    'no user': [
      () => plants.create(undefined as unknown as User, newPlant(1, 'Fern')),
      `a user must be ${USER_RULE}`,
    ],
    'a null query': [() => plants.list(ADA, null as unknown as object), ''],
  };
  for (const [what, [call, message]] of Object.entries(wrong))
    it(`rejects with a TypeError that says why: ${what}`, async () => {
      const error = await errorOf(call());
      expect(error).to.be.instanceOf(TypeError);
      expect((error as TypeError).message).to.contain(message);
    });

  for (const [member, { invalid }] of Object.entries(SELECTIONS))
    it(`rejects with a TypeError: a query with an invalid ${member}`, async () => {
      expect(invalid).not.to.deep.equal([]);
      for (const value of invalid) {
        const error = await errorOf(plants.list(ADA, { [member]: value }));
        expect(error).to.be.instanceOf(TypeError);
        expect((error as TypeError).message).to.match(new RegExp(`^${member} must be `));
      }
    });

  it('fails no other call of the same round', async () => {
    const neighbours = [plants.create(ADA, newPlant(1, 'Fern')), plants.list(ADA)];
    const failed = plants.create(ADA, { id: plantId(2), name: '' } as unknown as NewPlant);
    expect(await errorOf(failed)).to.be.instanceOf(TypeError);
    await Promise.all(neighbours);
    expect((await plants.list(ADA)).plants).to.deep.equal([{ name: 'Fern' }]);
  });

  it('fails no other call of the same round if its function throws', async () => {
    const boom = new RangeError('boom');
    const failed = plants.list(ADA, {}, () => {
      throw boom;
    });
    const listed = plants.list(ADA);
    expect(await errorOf(failed)).to.equal(boom);
    expect((await listed).plants).to.have.length(1);
  });
});

describe('A listing', () => {
  it('has all plants by default, and is a plain object', async () => {
    const plants = new PlantStore({ ...system(), store: new MemoryEventStore() });
    for (const id of [1, 2, 3]) await plants.create(ADA, newPlant(id, `Fern ${id}`));
    const { head, ...listing } = await plants.list(ADA, { limit: 2 });
    expect(JSON.parse(JSON.stringify(listing))).to.deep.equal({
      plants: [{ name: 'Fern 1' }, { name: 'Fern 2' }],
      next: 2,
    });
    expect(head.version).to.equal(3);
    expect((await plants.list(ADA)).plants).to.have.length(3);
    expect(await plants.list(ADA, { limit: 0, after: 1 })).to.deep.include({ plants: [], next: 1 });
    expect(Object.getPrototypeOf(await plants.list(ADA))).to.equal(Object.prototype);
  });
});

describe('A plant that create acknowledges', () => {
  const anyParts = fc.record({
    id: fc.oneof(fc.string(), fc.bigInt(-(2n ** 64n), 2n ** 64n).map(String)),
    ...allMembers(() =>
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(undefined, null, '', '\ud800', '\udfff', 7)),
    ),
  });

  it('can be replayed, for any accepted members', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyParts, { maxLength: 10 }), async (several) => {
        const store = new MemoryEventStore();
        const plants = new PlantStore({ ...system(), store });
        let living = 0;
        for (const parts of several) {
          const { plant } = NewPlant.from(parts);
          if (plant === undefined)
            expect(await errorOf(plants.create(ADA, parts as unknown as NewPlant))).to.be.instanceOf(
              TypeError,
            );
          else if ((await plants.create(ADA, plant)).events) living++;
        }
        const replayed = await new PlantStore({ ...system(), store }).list(ADA);
        expect(replayed.plants).to.have.length(living);
      }),
      { numRuns: RUNS },
    );
  });

  it('can have every id that a JSON number can express', () => {
    expect(NewPlant.from({ id: canonicalInteger('7.0'), name: 'Fern' }).plant).not.to.be.undefined;
  });
});
