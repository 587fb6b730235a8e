/**
 * Third suite of the contract: the same random work on the store and on the
 * reference, MemoryEventStore. All results must be equal, except for the sizes of
 * pages. A failure names the seed that repeats it.
 */
import fc from 'fast-check';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { MemoryEventStore } from '../adapters/memory';
import {
  BEGINNING,
  type EncodedEvent,
  type EventStore,
  type Head,
  type StoredEvent,
  type StreamName,
  headOf,
} from '../event-sourcing';
import { randomFrom } from './random';
import { Stream, nextCommit, streamName } from './a-stream';
import { type Cases, type Subject, anyEvent } from './case';

const STEPS = 150;
const STREAMS = 2;
const WRITERS = 4;

export const differentialCases: Cases = {
  'for any calls, every result equals that of the memory store': (subject) =>
    compareWithMemory(subject, [subject.store]),
};

/** Sends random calls to `stores`, all on one place, and to a memory store, and compares the results. */
export async function compareWithMemory(subject: Subject, stores: readonly EventStore[]): Promise<void> {
  const { seed, effort } = subject;
  for (let next = seed; next < seed + Math.ceil(4 * effort); next++) {
    try {
      await new RandomWork(subject, stores, next).play();
    } catch (error) {
      if (error instanceof Error) error.message = `seed ${next} repeats it; ${error.message}`;
      throw error;
    }
  }
}

interface TriedAppend {
  readonly stream: StreamName;
  readonly expected: Head;
  readonly commit: string;
  readonly events: readonly EncodedEvent[];
}

/** A result with all its pages. */
type Whole =
  | { readonly status: 'appended'; readonly head: Head }
  | { readonly status: 'read' | 'conflict'; readonly events: readonly StoredEvent[] }
  | { readonly status: 'reset' | 'archived' };

/** Random reads and appends by several writers, which know different heads. */
class RandomWork {
  readonly #reference = new MemoryEventStore();
  /** A random whole number below `below`. */
  readonly #random: (below: number) => number;
  readonly #streams = Array.from({ length: STREAMS }, () => streamName(`contract ${randomUUID()}`));
  /** Per writer and stream, the last head that the writer knows. */
  readonly #known = Array.from({ length: WRITERS }, () => this.#streams.map(() => BEGINNING));
  readonly #appends: TriedAppend[] = [];

  constructor(
    private readonly subject: Subject,
    private readonly stores: readonly EventStore[],
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
    const fresh = { stream, expected: head, commit: nextCommit(), events: this.#events() };

    switch (this.#random(8)) {
      case 0:
        await this.#read(step, stream, this.#unknownHead(head));
        return;
      case 1:
        await this.#append(step, { ...fresh, expected: this.#unknownHead(head) });
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

  #events(): EncodedEvent[] {
    const numRuns = 1 + this.#random(4);
    return fc.sample(anyEvent, { numRuns, seed: this.#random(2 ** 31) });
  }

  #read(step: string, stream: StreamName, after: Head): Promise<Whole> {
    return this.#compare(`${step}, a read`, stream, (either) => either.read(after));
  }

  #append(step: string, { stream, expected, commit, events }: TriedAppend): Promise<Whole> {
    return this.#compare(`${step}, an append`, stream, (either) => either.append(expected, commit, events));
  }

  async #compare(
    what: string,
    name: StreamName,
    ask: (stream: Stream) => ReturnType<Stream['read'] | Stream['append']>,
  ): Promise<Whole> {
    const answer = async (store: EventStore): Promise<Whole> => {
      const stream = new Stream(store, name);
      const first = await ask(stream);
      return 'events' in first ? { status: first.status, events: await stream.rest(first) } : first;
    };
    const expected = await answer(this.#reference);
    const store = this.stores[this.#random(this.stores.length)]!;
    assert.deepEqual([what, await answer(store)], [what, expected]);
    return expected;
  }

  /** The writer's next head: after all newer events, some, or none. */
  #learn(known: Head, answer: Whole): Head {
    if (answer.status === 'appended') return answer.head;
    if (!('events' in answer)) return BEGINNING;
    const last = answer.events[this.#random(answer.events.length + 2) - 1] ?? answer.events.at(-1);
    return last && this.#random(4) > 0 ? headOf(last) : known;
  }

  /** A head that the stream almost certainly never had. */
  #unknownHead({ version, commit }: Head): Head {
    return this.#random(2) === 0
      ? { version, commit: nextCommit() }
      : { version: version + 1 + this.#random(3), commit };
  }
}
