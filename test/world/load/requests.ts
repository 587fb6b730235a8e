/** The requests that the clients of a group send. */
import { tokenOf } from '../../support/token';
import type { ClientGroup, IdRange, Mix } from './workload';
import { zipf } from './zipf';

export interface LoadRequest {
  readonly text: string;
  readonly user: string;
  /** The client closes its connection after this many ms, before or after the response. */
  readonly hangUpAfterMs?: number | undefined;
  /** Whether the client closes its connection after the response. */
  readonly closes?: boolean | undefined;
  readonly onSuccess?: () => void;
}

/** The next request of a client; `undefined` after the last. Some choose a user of their own. */
export type Requests = (user: string) => LoadRequest | undefined;

/** Users are chosen by a {@link zipf} distribution with this exponent. */
const SKEW = 1.1;
/** Unique to this generator, so that no other creates the same ids. */
let nextId = process.pid * 1_000_000_000;
/** The ids of the living plants of the users of a {@link Mix}, the oldest first, also those of earlier workloads. */
const living = new Map<string, number[]>();

/** Returns a function that makes the requests of one client, or those of all of them. */
export function requestsOf(group: ClientGroup, host: string, random: () => number): () => Requests {
  const headOf = (user: string) => {
    const token = group.tokens === undefined ? tokenOf(user) : group.tokens + user;
    return `Host: ${host}\r\nAuthorization: Bearer ${token}\r\n`;
  };
  if (group.each !== undefined) {
    const requests = oncePerId(group.users, group.each, headOf);
    return () => requests;
  }
  if (group.mix !== undefined) {
    const requests = mixed(group.users, group.mix, headOf, random);
    return () => requests;
  }
  return () => inTurn(group, headOf);
}

type HeadOf = (user: string) => string;

function inTurn(group: ClientGroup, headOf: HeadOf): Requests {
  const { get = [], create, hangUpAfterMs, connectionPerRequest: closes } = group;
  const name = create && 'n'.repeat(create.nameLength);
  let count = 0;
  return (user) => {
    const turn = count++;
    const text =
      create === undefined || (get.length > 0 && turn % 2 === 0)
        ? `GET ${get[(create ? turn / 2 : turn) % get.length]} HTTP/1.1\r\n${headOf(user)}\r\n`
        : post('/plants', headOf(user), `{"id":${nextId++},"name":"${name}"}`);
    return { text, user, hangUpAfterMs, closes };
  };
}

function oncePerId(
  users: readonly string[],
  { method, target, ids }: NonNullable<ClientGroup['each']>,
  headOf: HeadOf,
): Requests {
  const next = idsOf(ids);
  return () => {
    const { value: id } = next.next();
    if (id === undefined) return undefined;
    const user = users[id % users.length]!;
    const head = headOf(user);
    if (method === 'POST') return { user, text: post(target, head, bodyOf(id)) };
    const path = method === 'DELETE' ? `${target}/${id}` : target;
    return { user, text: `${method} ${path} HTTP/1.1\r\n${head}\r\n` };
  };
}

function* idsOf(ranges: readonly IdRange[]): Generator<number, undefined> {
  for (const { first, count } of ranges) for (let id = first; id < first + count; id++) yield id;
  return undefined;
}

function mixed(
  users: readonly string[],
  { plants, writes, closesEvery, hangsUpEvery }: Mix,
  headOf: HeadOf,
  random: () => number,
): Requests {
  const pick = zipf(users.length, SKEW);
  let count = 0;
  return () => {
    const index = count++;
    const hangsUp = index % hangsUpEvery === 1;
    const user = users[pick(random())]!;
    const closes = index % closesEvery === 0;
    if (hangsUp || random() >= writes)
      return { user, closes, text: list(headOf(user)), hangUpAfterMs: hangsUp ? 1 : undefined };
    const ids = living.get(user) ?? [...plants];
    living.set(user, ids);
    // So all numbers of plants stay as they are.
    if (ids.length > plants.length)
      return { user, closes, text: `DELETE /plants/${ids.shift()!} HTTP/1.1\r\n${headOf(user)}\r\n` };
    const id = nextId++;
    return { user, closes, text: post('/plants', headOf(user), bodyOf(id)), onSuccess: () => ids.push(id) };
  };
}

function bodyOf(id: number): string {
  return `{"id":${id},"name":"Monstera deliciosa","tag":"indoor"}`;
}

function list(head: string): string {
  return `GET /plants HTTP/1.1\r\n${head}\r\n`;
}

function post(target: string, head: string, body: string): string {
  return `POST ${target} HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}
