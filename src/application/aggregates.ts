import type { AnyKind } from '../event-sourcing';
import { PlantStore } from './plant-store';
import type { UserAggregatesOptions } from './user-aggregates';

/** The use cases of every kind of aggregate, by the name that transports have for them. This is the only list of kinds. */
const STORES = { plants: PlantStore } as const;

export type Stores = { readonly [Name in keyof typeof STORES]: InstanceType<(typeof STORES)[Name]> };

/** Every kind of aggregate, for the commands. */
export const KINDS: readonly AnyKind[] = Object.values(STORES).map(({ kind }) => kind);

/** Opens the use cases of every kind on one store. */
export function openStores(options: UserAggregatesOptions): Stores {
  return Object.fromEntries(
    Object.entries(STORES).map(([name, Store]) => [name, new Store(options)]),
  ) as unknown as Stores;
}
