/** A store with plants, for the tests. */
import { MemoryCheckpoints, MemoryEventStore, MemoryLeases } from 'plant-store/adapters/memory';
import { system } from 'plant-store/adapters/system';
import { PlantStore, parseUser, plantsOf } from 'plant-store/application';
import { NewPlant, parsePlantId } from 'plant-store/domain';

export function openPlants() {
  const memory = new MemoryEventStore();
  const checkpoints = new MemoryCheckpoints();
  const plants = new PlantStore({ ...system(), store: memory });
  const userOf = (name: string) => parseUser(name)!;
  return {
    store: {
      store: memory,
      feed: memory.feed,
      catalogue: memory,
      checkpoints: () => checkpoints,
      leases: new MemoryLeases(),
    },
    /** Resolves with the stream and the head after it. */
    async create(user: string, id: string, tag?: string) {
      const { plant } = NewPlant.from({ id, name: 'Fern', ...(tag !== undefined && { tag }) });
      await plants.create(userOf(user), plant!);
      return [plantsOf(userOf(user)), (await plants.list(userOf(user))).head] as const;
    },
    async remove(user: string, id: string) {
      await plants.delete(userOf(user), parsePlantId(id)!);
      return [plantsOf(userOf(user)), (await plants.list(userOf(user))).head] as const;
    },
    erase: (user: string) => memory.erase(plantsOf(userOf(user))),
  };
}
