/**
 * Third suite of the contract: random work on the store and on the reference,
 * MemoryEventStore, side by side; every answer has to be the same, but for
 * where pages end. A failure names its seed, which plays that work again.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { MemoryEventStore } from '../adapters/memory';
import { BEGINNING, type EventStore, type Head, type RecordedEvent, headOf } from '../application';
import type { PlantEvent } from '../domain';
import { ferns } from './events';
import { randomFrom } from './random';
import { Stream, mintCommit } from './a-stream';
import type { Cases } from './case';

const STEPS = 150;
const STREAMS = 2;
const WRITERS = 4;

export const differentialCases: Cases = {
  'for any work, every answer is the one that the memory store gives': async ({ store, seed, effort }) => {
    for (let next = seed; next < seed + Math.ceil(4 * effort); next++) {
      try {
        await new Workload(store, next).play();
      } catch (error) {
        if (error instanceof Error) error.message = `seed ${next} repeats it; ${error.message}`;
        throw error;
      }
    }
  },
};

interface Append {
  readonly stream: string;
  readonly expected: Head;
  readonly commit: string;
  readonly events: readonly PlantEvent[];
}

/** An answer with all its pages. */
type Whole =
  | { readonly status: 'appended'; readonly head: Head }
  | { readonly status: 'read' | 'conflict'; readonly events: readonly RecordedEvent[] }
  | { readonly status: 'reset' };

/** Writers who know the streams up to some place or other, and act on it. */
class Workload {
  readonly #reference = new MemoryEventStore();
  /** A whole number below what is asked for. */
  readonly #random: (below: number) => number;
  readonly #streams = Array.from({ length: STREAMS }, () => `contract ${randomUUID()}`);
  /** Per writer and stream, the last place that this writer has heard of. */
  readonly #known = Array.from({ length: WRITERS }, () => this.#streams.map(() => BEGINNING));
  readonly #appends: Append[] = [];

  constructor(
    private readonly store: EventStore,
    seed: number,
  ) {
    const random = randomFrom(seed);
    this.#random = (below) => Math.floor(random() * below);
  }

  async play(): Promise<void> {
    for (let step = 1; step <= STEPS; step++) await this.#act(`step ${step}`);
    for (const stream of this.#streams) await this.#read('the end', stream, BEGINNING);
  }

  async #act(step: string): Promise<void> {
    const known = this.#known[this.#random(WRITERS)]!;
    const index = this.#random(STREAMS);
    const stream = this.#streams[index]!;
    const head = known[index]!;
    const fresh = { stream, expected: head, commit: mintCommit(), events: ferns(1 + this.#random(4)) };

    switch (this.#random(8)) {
      case 0:
        await this.#read(step, stream, this.#strange(head));
        return;
      case 1:
        await this.#append(step, { ...fresh, expected: this.#strange(head) });
        return;
      case 2:
        await this.#append(step, this.#appends[this.#random(this.#appends.length)] ?? fresh);
        return;
      case 3:
      case 4:
        known[index] = this.#learn(head, await this.#read(step, stream, head));
        return;
      default:
        known[index] = this.#learn(head, await this.#append(step, fresh));
        this.#appends.push(fresh);
    }
  }

  #read(step: string, stream: string, after: Head): Promise<Whole> {
    return this.#compare(`${step}, a read`, stream, (either) => either.read(after));
  }

  #append(step: string, { stream, expected, commit, events }: Append): Promise<Whole> {
    return this.#compare(`${step}, an append`, stream, (either) => either.append(expected, commit, events));
  }

  async #compare(
    what: string,
    name: string,
    ask: (stream: Stream) => ReturnType<Stream['read'] | Stream['append']>,
  ): Promise<Whole> {
    const answer = async (store: EventStore): Promise<Whole> => {
      const stream = new Stream(store, name);
      const first = await ask(stream);
      return 'events' in first ? { status: first.status, events: await stream.rest(first) } : first;
    };
    const expected = await answer(this.#reference);
    assert.deepEqual([what, await answer(this.store)], [what, expected]);
    return expected;
  }

  /** Whoever is told of newer events may take in all of them, or some, or none, and act on that. */
  #learn(known: Head, answer: Whole): Head {
    if (answer.status === 'reset') return BEGINNING;
    if (answer.status === 'appended') return answer.head;
    const last = answer.events[this.#random(answer.events.length + 2) - 1] ?? answer.events.at(-1);
    return last && this.#random(4) > 0 ? headOf(last) : known;
  }

  /** A place that the stream has never been at, most likely. */
  #strange({ version, commit }: Head): Head {
    return this.#random(2) === 0
      ? { version, commit: mintCommit() }
      : { version: version + 1 + this.#random(3), commit };
  }
}
