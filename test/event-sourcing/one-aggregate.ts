import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import { Aggregate, type AggregateObserver, type AggregateOptions } from '../../src/event-sourcing';
import { streamName } from '../../src/testing/a-stream';
import { ManualClock, untilIdle } from '../support/manual-clock';
import { ScriptedStore } from '../support/scripted-store';
import { PendingRequest } from '../support/pending-request';
import {
  type LabelEvent,
  type Labels,
  type Rejection,
  codec,
  created,
  deleted,
  footprint,
  labels,
  listing,
} from './labels';

export const TIMEOUT_MS = 1000;

/** Resolves when no load and no save is in progress. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await untilIdle();
}

type Options = Partial<AggregateOptions<LabelEvent, LabelEvent, Labels>> & { readonly pageSize?: number };

/** A fixture: one aggregate with a scripted store and a manual clock. */
export class OneAggregate {
  readonly clock = new ManualClock();
  readonly store: ScriptedStore<LabelEvent>;
  readonly aggregate: Aggregate<LabelEvent, LabelEvent, Rejection, Labels>;
  /** The notifications of the observer, in order. */
  readonly observed: string[] = [];
  #commits = 0;

  constructor({ pageSize = 1000, ...options }: Options = {}) {
    this.store = new ScriptedStore(codec, () => new MemoryEventStore(pageSize));
    this.aggregate = new Aggregate<LabelEvent, LabelEvent, Rejection, Labels>(streamName('ada'), labels, {
      footprint,
      store: this.store,
      codec,
      clock: this.clock,
      mintCommit: () => `commit-${++this.#commits}`,
      timeoutMs: TIMEOUT_MS,
      maxWaiting: 100,
      observer: this.#observer(),
      ...options,
    });
  }

  /** A fixture whose aggregate has loaded `events`, recorded by others. */
  static async loadedWith(...events: LabelEvent[]): Promise<OneAggregate> {
    const fixture = new OneAggregate();
    await fixture.store.record('ada', ...events);
    await fixture.catchUp();
    fixture.observed.length = 0;
    return fixture;
  }

  create(id: number, name: string) {
    return this.#execute(created(id, name));
  }

  delete(id: number) {
    return this.#execute(deleted(id));
  }

  list() {
    return new PendingRequest(this.aggregate.query(listing), ({ names }) => names);
  }

  /** Lists while the store answers every call. */
  async catchUp() {
    this.store.held = false;
    const listed = this.list();
    await this.clock.pass(0);
    this.store.held = true;
    return listed;
  }

  /** Records events by another instance. */
  recordByOthers(...events: LabelEvent[]): Promise<void> {
    return this.store.record('ada', ...events);
  }

  /** The recorded events: `+Fern` for a creation, `-1` for a deletion. */
  async recorded(): Promise<string[]> {
    return (await this.store.history('ada')).map(({ event }) => describeEvent(event));
  }

  #execute(command: LabelEvent) {
    return new PendingRequest(
      this.aggregate.execute(command),
      ({ events, rejection }) => rejection ?? events[0]!.type.toLowerCase(),
    );
  }

  #observer(): AggregateObserver {
    const notify = (notification: string) => void this.observed.push(notification);
    return {
      round: (requests, storeCalls) => notify(`round: ${requests} requests, ${storeCalls} store calls`),
      appended: (events) => notify(`appended ${events}`),
      conflict: () => notify('conflict'),
      historyLost: (stream, known) => notify(`${stream} lost version ${known.version}`),
      snapshot: (stream, outcome, cause) =>
        notify(`${stream} snapshot ${outcome}${cause === undefined ? '' : `: ${(cause as Error).message}`}`),
      fault: (stream, error) => notify(`${stream}: ${(error as Error).name}`),
    };
  }
}

function describeEvent(event: LabelEvent): string {
  return 'name' in event ? `+${event.name}` : `-${event.id}`;
}
