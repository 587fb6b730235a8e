/** The requests of a user as data, for tests of many concurrent ones: how they are sent, and what each may lead to. */
import type { Listing, PlantStore, User } from '../../src/application';
import type { Command, PlantDecision, PlantEvent, Rejection } from '../../src/domain';
import type { HttpClient, HttpResponse } from './client';
import { newPlant, plantId } from './given';

export type PlantRequest =
  | { readonly type: 'create'; readonly id: number; readonly name: string }
  /** The name is shown in a problem. */
  | { readonly type: 'delete'; readonly id: number; readonly name?: string }
  | { readonly type: 'list' };

export type PlantWrite = Exclude<PlantRequest, { type: 'list' }>;

interface WriteRule {
  readonly type: PlantWrite['type'];
  readonly event: PlantEvent['type'];
  /** The responses if it takes effect, and if it does not. */
  readonly acknowledged: string;
  readonly rejected: Rejection;
  /** Whether it takes effect on a living plant, or on a free id. */
  readonly onLiving: boolean;
  /** The name of the plant after it; `undefined` if the plant is deleted. */
  readonly nameAfter: (write: PlantWrite) => string | undefined;
  /** The name that lists do not have after it; `undefined` if the request does not know it. */
  readonly nameRemoved: (write: PlantWrite) => string | undefined;
  readonly send: (plants: PlantStore, user: User, id: number, name: string) => Promise<PlantDecision>;
  readonly sendOverHttp: (client: HttpClient, id: number, name: string) => Promise<HttpResponse>;
}

/** By the type of the command that a request leads to, so that the compiler requires each new type. */
const RULES: Readonly<Record<Command['type'], WriteRule>> = {
  CreatePlant: {
    type: 'create',
    event: 'PlantCreated',
    acknowledged: 'created',
    rejected: 'id-taken',
    onLiving: false,
    nameAfter: ({ name }) => name,
    nameRemoved: () => undefined,
    send: (plants, user, id, name) => plants.create(user, newPlant(id, name)),
    sendOverHttp: (client, id, name) => client.create(id, name),
  },
  DeletePlant: {
    type: 'delete',
    event: 'PlantDeleted',
    acknowledged: 'deleted',
    rejected: 'no-such-plant',
    onLiving: true,
    nameAfter: () => undefined,
    nameRemoved: ({ name }) => name,
    send: (plants, user, id) => plants.delete(user, plantId(id)),
    sendOverHttp: (client, id) => client.delete(id),
  },
};

export const WRITES = Object.fromEntries(Object.values(RULES).map((rule) => [rule.type, rule])) as Readonly<
  Record<PlantWrite['type'], WriteRule>
>;

/** The answers to writes that took effect. */
export const ACKNOWLEDGED = Object.values(WRITES).map(({ acknowledged }) => acknowledged);

/** A write of any type; with a name if it gives the plant one. */
export function writeOf(type: PlantWrite['type'], id: number, name: string): PlantWrite {
  const write = { type, id, name } as PlantWrite;
  return WRITES[type].nameAfter(write) === undefined ? ({ type, id } as PlantWrite) : write;
}

/** The request that records an event. */
export function requestOf(event: PlantEvent): PlantWrite {
  const { type } = Object.values(WRITES).find((rule) => rule.event === event.type)!;
  return writeOf(type, Number(event.id), nameIn(event) ?? '');
}

/** The name that a request gives a plant; `undefined` if it gives none. */
export function nameGiven(request: PlantRequest): string | undefined {
  return request.type === 'list' ? undefined : WRITES[request.type].nameAfter(request);
}

/** The name of the plant that a request removes, if it knows it. */
export function nameRemoved(request: PlantRequest): string | undefined {
  return request.type === 'list' ? undefined : WRITES[request.type].nameRemoved(request);
}

/** The name that an event gives a plant; `undefined` if it gives none. */
export function nameIn(event: PlantEvent): string | undefined {
  return 'plant' in event ? event.plant.name : undefined;
}

export function sendRequest(
  plants: PlantStore,
  user: User,
  request: PlantRequest,
): Promise<PlantDecision | Listing> {
  if (request.type === 'list') return plants.list(user);
  return WRITES[request.type].send(plants, user, request.id, request.name ?? '');
}
