/** The plants of a service that is written by hand: in a Map, or in Redis if REDIS_URL is set. */
import { Redis } from 'ioredis';
import type { NewPlant, Plant } from './shared';

export interface Plants {
  /** The list, or its JSON. */
  list(user: string): Plant[] | Promise<string>;
  /** Whether the id was free. */
  create(user: string, plant: NewPlant): boolean | Promise<boolean>;
  /** Whether it existed. */
  delete(user: string, id: number): boolean | Promise<boolean>;
}

export function openPlants(): Plants {
  const url = process.env['REDIS_URL'];
  return url === undefined ? new PlantMaps() : new PlantHashes(url);
}

class PlantMaps implements Plants {
  readonly #users = new Map<string, Map<number, Plant>>();

  list(user: string): Plant[] {
    return [...this.#of(user).values()];
  }

  create(user: string, { id, name, tag }: NewPlant): boolean {
    const plants = this.#of(user);
    if (plants.has(id)) return false;
    plants.set(id, tag === undefined ? { name } : { name, tag });
    return true;
  }

  delete(user: string, id: number): boolean {
    return this.#of(user).delete(id);
  }

  #of(user: string): Map<number, Plant> {
    let plants = this.#users.get(user);
    if (plants === undefined) this.#users.set(user, (plants = new Map<number, Plant>()));
    return plants;
  }
}

/** A hash of each user, with the JSON of a plant as the value of its id. The order of a list is that of Redis. */
class PlantHashes implements Plants {
  readonly #redis: Redis;

  constructor(url: string) {
    this.#redis = new Redis(url, { enableAutoPipelining: true });
  }

  async list(user: string): Promise<string> {
    return `[${(await this.#redis.hvals(keyOf(user))).join()}]`;
  }

  async create(user: string, { id, name, tag }: NewPlant): Promise<boolean> {
    return (await this.#redis.hsetnx(keyOf(user), String(id), JSON.stringify({ name, tag }))) === 1;
  }

  async delete(user: string, id: number): Promise<boolean> {
    return (await this.#redis.hdel(keyOf(user), String(id))) === 1;
  }
}

function keyOf(user: string): string {
  return `plants:${user}`;
}
