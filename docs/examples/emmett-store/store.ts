/**
 * The `EventStore` of emmett over any store of this project with an index: emmett's command
 * handlers then run on Redis Streams. `data` and `metadata` of an event must be JSON.
 */
import * as emmett from '@event-driven-io/emmett';
import { system } from 'plant-store/adapters/system';
import type { EventStore, Head, StoredEvent, StreamIndex } from 'plant-store/event-sourcing';
import { BEGINNING, OutcomeUnknown, headOf, streamOf } from 'plant-store/event-sourcing';

type Event = emmett.Event;
type Metadata = emmett.ReadEventMetadataWithoutGlobalPosition;

/** @param category of the streams; projections of this project follow it. */
export function emmettStore(
  store: EventStore,
  index: StreamIndex,
  category: string,
): emmett.EventStore<Metadata> {
  async function historyOf(name: string): Promise<StoredEvent[]> {
    const history: StoredEvent[] = [];
    for (let head: Head = BEGINNING; ; head = headOf(history.at(-1) ?? BEGINNING)) {
      const page = await store.read(streamOf(category, name), head);
      if (page.status === 'read') history.push(...page.events);
      // Erased, or lost by a failover, since the page before: begin again.
      else history.length = 0;
      if (page.status === 'read' && !page.more) return history;
    }
  }

  /** Repeats an append whose reply was lost: with the same commit id nothing is recorded twice. */
  async function append(
    ...call: Parameters<EventStore['append']>
  ): ReturnType<EventStore['append']> {
    for (let left = 3; ; left--)
      try {
        return await store.append(...call);
      } catch (error) {
        if (left === 0 || !(error instanceof OutcomeUnknown)) throw error;
      }
  }

  return {
    async readStream<E extends Event, P extends Event = E>(
      name: string,
      { from = 0n, to, maxCount, ...expected }: emmett.ReadStreamOptions<bigint, E, P> = {},
    ) {
      const history = await historyOf(name);
      const currentStreamVersion = BigInt(history.length);
      emmett.assertExpectedVersionMatchesCurrent(
        currentStreamVersion,
        expected.expectedStreamVersion,
        0n,
      );
      const end = to ?? (maxCount === undefined ? currentStreamVersion : from + maxCount);
      const found = history
        .slice(Number(from), Number(end))
        .map((stored) => eventOf<P>(name, stored));
      const events = emmett.upcastRecordedMessages<E, P, Metadata>(
        found,
        expected.schema?.versioning,
      );
      return { currentStreamVersion, events, streamExists: history.length > 0 };
    },

    async aggregateStream<State, E extends Event, P extends Event = E>(
      name: string,
      { evolve, initialState, read }: emmett.AggregateStreamOptions<State, E, Metadata, P>,
    ) {
      const { events, streamExists } = await this.readStream<E, P>(name, read);
      const state = events.reduce((before, event) => evolve(before, event), initialState());
      return {
        currentStreamVersion: (read?.from ?? 0n) + BigInt(events.length),
        state,
        streamExists,
      };
    },

    async appendToStream<E extends Event, P extends Event = E>(
      name: string,
      events: E[],
      { expectedStreamVersion, schema }: emmett.AppendToStreamOptions<bigint, E, P> = {},
    ) {
      const stream = streamOf(category, name);
      const written = emmett.downcastRecordedMessages<E, P, Metadata>(events, schema?.versioning);
      const encoded = written.map(({ type, ...event }) => ({ type, data: JSON.stringify(event) }));
      for (;;) {
        const head = (await index.head(stream)) ?? BEGINNING;
        emmett.assertExpectedVersionMatchesCurrent(BigInt(head.version), expectedStreamVersion, 0n);
        const result = await append(stream, head, system().mintCommit(), encoded);
        // Otherwise another append was faster. Whether that matters is checked again.
        if (result.status !== 'appended') continue;
        const { version } = result.head;
        return { nextExpectedStreamVersion: BigInt(version), createdNewStream: head.version === 0 };
      }
    },

    streamExists: async (name) => (await index.head(streamOf(category, name))) !== undefined,
  };
}

function eventOf<E extends Event>(
  streamName: string,
  { type, data, version, commit }: StoredEvent,
) {
  const event = JSON.parse(data) as { readonly metadata?: object };
  const own = { streamName, messageId: `${commit}/${version}`, streamPosition: BigInt(version) };
  const metadata = { ...event.metadata, ...own };
  return { kind: 'Event', type, ...event, metadata } as unknown as emmett.ReadEvent<E, Metadata>;
}
