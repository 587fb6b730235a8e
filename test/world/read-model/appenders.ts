/** The writers of the scenarios of read models: they append to many streams, and repeat what has no known outcome. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  BEGINNING,
  type EventStore,
  type Head,
  OutcomeUnknown,
  type StreamName,
  isTransient,
} from '../../../src/event-sourcing';
import { note } from '../../event-sourcing/one-projection';
import { plantsOf } from '../../support/given';

const WRITERS = 64;
/** Streams that a writer appends to in turns. Each ends at about this length, and another one begins. */
const OPEN_STREAMS = 4;
const STREAM_EVENTS = 2000;
const RETRY_MS = 20;

/** What the writers know at the end. */
export interface Appended {
  readonly streams: readonly StreamName[];
  readonly events: number;
  readonly commits: number;
  /** Acknowledged commits that a writer found lost. */
  readonly lost: number;
}

export interface AppenderOptions {
  readonly random: () => number;
  readonly mintCommit: () => string;
  /** Of one commit. */
  readonly mostEvents: number;
  /** From one commit of a writer to the next. */
  readonly pauseMs: number;
}

interface Written {
  readonly name: StreamName;
  readonly heads: Head[];
}

export class Appenders {
  readonly #streams: StreamName[] = [];
  #events = 0;
  #commits = 0;
  #lost = 0;
  #stopped = false;
  readonly #writers: Promise<unknown>;

  constructor(
    private readonly store: EventStore,
    private readonly options: AppenderOptions,
  ) {
    this.#writers = Promise.all(Array.from({ length: WRITERS }, (_, writer) => this.#write(writer)));
    // Handled by `stop`.
    this.#writers.catch(() => {});
  }

  get events(): number {
    return this.#events;
  }

  /** Completes each append. Rejects if the store has broken a rule of its port. */
  async stop(): Promise<Appended> {
    this.#stopped = true;
    await this.#writers;
    return { streams: this.#streams, events: this.#events, commits: this.#commits, lost: this.#lost };
  }

  async #write(writer: number): Promise<void> {
    const { random, mostEvents, pauseMs } = this.options;
    const open = Array.from({ length: OPEN_STREAMS }, () => this.#begin(writer));
    while (!this.#stopped) {
      const place = Math.floor(random() * OPEN_STREAMS);
      const stream = open[place]!;
      await this.#append(stream, 1 + Math.floor(random() * mostEvents));
      if (stream.heads.at(-1)!.version >= STREAM_EVENTS) open[place] = this.#begin(writer);
      await pause(pauseMs);
    }
  }

  #begin(writer: number): Written {
    const name = plantsOf(`w${writer}-${this.#streams.length}`);
    this.#streams.push(name);
    return { name, heads: [] };
  }

  /** One commit at the end of the stream, or at what is left of it. */
  async #append({ name, heads }: Written, count: number): Promise<void> {
    const events = Array.from({ length: count }, (_, index) => note(`${index}`));
    for (let commit = this.options.mintCommit(); ;) {
      try {
        const { status } = await this.store.append(name, heads.at(-1) ?? BEGINNING, commit, events);
        if (status === 'appended') {
          heads.push({ version: (heads.at(-1)?.version ?? 0) + count, commit });
          this.#events += count;
          this.#commits++;
          return;
        }
        if (status !== 'reset' || heads.pop() === undefined)
          throw new Error(`an append of the only writer of ${name} had the result ${status}`);
        this.#lost++;
        // At another head it is another append.
        commit = this.options.mintCommit();
      } catch (error) {
        if (!isTransient(error) && !(error instanceof OutcomeUnknown)) throw error;
        await pause(RETRY_MS);
      }
    }
  }
}
