import { setTimeout as pause } from 'node:timers/promises';
import { Client, type HttpResponse } from './client';
import { type Operation, type PlantRequest, WRITES } from './linearizability';
import { randomFrom } from './random';

/** One request with its response. Start and end are on the clock of this process. */
export interface LoadRequest {
  readonly user: string;
  readonly request: PlantRequest;
  readonly asked: number;
  readonly answered: number;
  readonly response: HttpResponse;
}

/** The requests of one user in the form of the linearizability oracle, without those that certainly changed nothing. */
export function operationsOf(requests: readonly LoadRequest[]): Operation[] {
  return requests.flatMap(({ request, asked, answered, response }) => {
    if (response.error === 50300) return [];
    return [{ request, asked, answered, answer: answerOf(request, response) }];
  });
}

/** The response in the form of the linearizability oracle. */
export function answerOf(
  { type }: PlantRequest,
  { status, error, names }: HttpResponse,
): string | readonly string[] {
  if (status < 300) return type === 'list' ? names! : WRITES[type].acknowledged;
  if (error === 40003) return 'id-taken';
  if (error === 40401) return 'no-such-plant';
  // A list changes nothing, so it cannot be unknown.
  return error === 50301 && type !== 'list' ? 'unknown' : `${status}/${error ?? '–'}`;
}

export interface LoadOptions {
  /** The URLs of the instances; each request goes to any of them. */
  readonly urls: readonly string[];
  readonly users: readonly string[];
  /** The number of clients, spread over the users. */
  readonly clients?: number;
  readonly seed?: number;
}

const PACE_MS = 4;
const AFTER_A_FAULT_MS = 20;
/** Beyond this number of plants a client deletes before it creates, so that lists stay short. */
const MOST_PLANTS = 6;

/**
 * Clients that create, delete and list, and record every request. Most ids belong to
 * one client; for the others all clients of a user compete. The client that
 * created a plant deletes it.
 */
export class Load {
  readonly requests: LoadRequest[] = [];
  #stopped = false;
  readonly #clients: Promise<unknown>;
  readonly #since = performance.now();

  constructor({ urls, users, clients = 6, seed = Date.now() }: LoadOptions) {
    this.#clients = Promise.all(
      Array.from({ length: clients }, (_, number) => {
        const user = users[number % users.length]!;
        const ways = urls.map((url) => new Client(url, user));
        return this.#run(number, user, ways, randomFrom(seed + number));
      }),
    );
  }

  /** Resolves once every request has its response. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#clients;
  }

  async #run(number: number, user: string, ways: readonly Client[], random: () => number): Promise<void> {
    const mine: { readonly id: number; readonly name: string; readonly contended: boolean }[] = [];
    for (let count = 1; !this.#stopped; count++) {
      const way = ways[Math.floor(random() * ways.length)]!;
      const dice = random();
      let answer: HttpResponse;
      if (dice < 0.4 && mine.length < MOST_PLANTS) {
        const contended = dice < 0.15;
        const id = contended ? this.#contendedId(random) : number * 1_000_000 + count;
        const name = `${number}-${count}`;
        answer = await this.#record(user, { type: 'create', id, name }, () => way.create(id, name));
        // After an unknown outcome a contended id may belong to another client.
        if (answer.status === 200 || (answer.error === 50301 && !contended)) {
          mine.push({ id, name, contended });
        }
      } else if (dice < 0.75 && mine.length > 0) {
        const [{ id, name, contended }] = mine.splice(Math.floor(random() * mine.length), 1) as [
          (typeof mine)[0],
        ];
        answer = await this.#record(user, { type: 'delete', id, name }, () => way.delete(id));
        if (answer.error === 50300 || (answer.error === 50301 && !contended)) {
          mine.push({ id, name, contended });
        }
      } else {
        answer = await this.#record(user, { type: 'list' }, () => way.list());
      }
      await pause(answer.status === 503 ? AFTER_A_FAULT_MS : PACE_MS);
    }
  }

  /** Few at any time, and new ones all the time: an id may stay taken after an unknown outcome. */
  #contendedId(random: () => number): number {
    return -1 - 3 * Math.floor((performance.now() - this.#since) / 100) - Math.floor(random() * 3);
  }

  async #record(
    user: string,
    request: PlantRequest,
    send: () => Promise<HttpResponse>,
  ): Promise<HttpResponse> {
    const asked = performance.now();
    const response = await send();
    this.requests.push({ user, request, asked, answered: performance.now(), response });
    return response;
  }
}
