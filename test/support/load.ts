import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, Client } from './client';
import { randomFrom } from './random';

/** What a client wants. Names are never used twice, so the name of a deletion tells whose life it means to end. */
export type Attempt =
  | { readonly kind: 'create' | 'delete'; readonly id: number; readonly name: string }
  | { readonly kind: 'list' };

/** What a client wanted, and what it was told; both times on the one clock of this process. */
export interface Operation {
  readonly user: string;
  readonly attempt: Attempt;
  readonly asked: number;
  readonly answered: number;
  readonly answer: Answer;
}

export interface LoadOptions {
  /** Where the instances listen; each request goes to any of them. */
  readonly urls: readonly string[];
  readonly users: readonly string[];
  /** How many clients, spread over the users. */
  readonly clients?: number;
  readonly seed?: number;
}

const PACE_MS = 4;
const AFTER_A_FAULT_MS = 20;
/** Beyond that a client deletes before it creates, so that lists stay short. */
const MOST_PLANTS = 6;

/**
 * Clients that create, delete and list, and write down all of it. Most ids are a
 * client's own. Others all clients of a user fight for; whoever got one is the
 * only one to delete it. So each event has one client that can have caused it.
 */
export class Load {
  readonly operations: Operation[] = [];
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

  /** Resolves once every request has its answer. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#clients;
  }

  async #run(number: number, user: string, ways: readonly Client[], random: () => number): Promise<void> {
    const mine: { readonly id: number; readonly name: string; readonly contended: boolean }[] = [];
    for (let count = 1; !this.#stopped; count++) {
      const way = ways[Math.floor(random() * ways.length)]!;
      const dice = random();
      let answer: Answer;
      if (dice < 0.4 && mine.length < MOST_PLANTS) {
        const contended = dice < 0.15;
        const id = contended ? this.#contendedId(random) : number * 1_000_000 + count;
        const name = `${number}-${count}`;
        answer = await this.#note(user, { kind: 'create', id, name }, () => way.create(id, name));
        // Of a contended id it takes more than hope to know whose it is.
        if (answer.status === 200 || (answer.error === 50301 && !contended)) {
          mine.push({ id, name, contended });
        }
      } else if (dice < 0.75 && mine.length > 0) {
        const [{ id, name, contended }] = mine.splice(Math.floor(random() * mine.length), 1) as [
          (typeof mine)[0],
        ];
        answer = await this.#note(user, { kind: 'delete', id, name }, () => way.delete(id));
        if (answer.error === 50300 || (answer.error === 50301 && !contended)) {
          mine.push({ id, name, contended });
        }
      } else {
        answer = await this.#note(user, { kind: 'list' }, () => way.list());
      }
      await pause(answer.status === 503 ? AFTER_A_FAULT_MS : PACE_MS);
    }
  }

  /** Few at any time and new ones all the time: one that was lost to an unknown outcome may stay taken. */
  #contendedId(random: () => number): number {
    return -1 - 3 * Math.floor((performance.now() - this.#since) / 100) - Math.floor(random() * 3);
  }

  async #note(user: string, attempt: Attempt, ask: () => Promise<Answer>): Promise<Answer> {
    const asked = performance.now();
    const answer = await ask();
    this.operations.push({ user, attempt, asked, answered: performance.now(), answer });
    return answer;
  }
}
