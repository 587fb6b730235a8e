import { isUtf8 } from 'node:buffer';
import {
  type AppendResult,
  BEGINNING,
  type EventStore,
  type Head,
  type NewerEvents,
  type ReadResult,
  UnreadableHistory,
} from '../../application';
import type { PlantEvent } from '../../domain';
import { type AppendBounds, AppendWriter } from './append-writer';
import type { RedisConnection } from './connection';
import { appendFault, readFault } from './faults';
import { type Entry, decodeEntry, encodeEvent } from './storage-format';
import { streamKey } from './stream-key';

export interface RedisEventStoreOptions {
  readonly keyPrefix: string;
  /** How many replicas must hold an append before it is acknowledged; 0 or more. */
  readonly waitReplicas: number;
  /** How many events a read or a conflict hands over at most; 1 or more. */
  readonly pageSize?: number;
  /** How much the store holds of what Redis has not answered; `APPEND_BOUNDS` by default. */
  readonly appendBounds?: AppendBounds;
}

/**
 * Keeps each stream in a Redis stream of its own, whose entry ids are the
 * versions. Appends are one script (see append-script.ts), reads one XRANGE
 * that begins at the entry the caller knows: if it is not there, or bears
 * another commit, the history that the caller knows is gone.
 */
export class RedisEventStore implements EventStore {
  readonly #pageSize: number;
  readonly appends: AppendWriter;

  /** @param reader may be the writer, unless that one has to wait for replicas. */
  constructor(
    private readonly writer: RedisConnection,
    private readonly reader: RedisConnection,
    private readonly options: RedisEventStoreOptions,
  ) {
    this.#pageSize = options.pageSize ?? 1000;
    this.appends = new AppendWriter(writer, {
      waitReplicas: options.waitReplicas,
      bounds: options.appendBounds,
    });
  }

  async read(stream: string, after: Head): Promise<ReadResult> {
    try {
      const { client } = this.reader;
      const key = streamKey(this.options.keyPrefix, stream);
      const [reply] = await Promise.all([
        client.xrange(key, `${after.version}-0`, '+', 'COUNT', this.#count(after)),
        this.reader.mustBePrimary(),
      ]);
      const entries = reply as Entry[];
      const known = after.version > 0 ? entries.shift() : undefined;
      if (commitAt(after.version, known) !== after.commit) return { status: 'reset' };
      return { status: 'read', ...(await this.#newer(client, key, entries, after)) };
    } catch (error) {
      throw readFault(error);
    }
  }

  async append(
    stream: string,
    expected: Head,
    commit: string,
    events: readonly PlantEvent[],
  ): Promise<AppendResult> {
    if (events.length === 0 || commit === '')
      throw new RangeError('an append needs a commit id and an event');
    const key = streamKey(this.options.keyPrefix, stream);
    const args = [expected.version, expected.commit, commit, this.#count(expected)];
    for (const event of events) {
      const { type, data } = encodeEvent(event);
      args.push(type, data);
    }
    try {
      const [status, entries] = await this.appends.execute(key, args);
      if (status === 'appended') {
        return { status, head: { version: expected.version + events.length, commit } };
      }
      // The script has written nothing, so a server that was made a replica had nothing to refuse.
      await this.writer.mustBePrimary();
      if (status === 'reset') return { status };
      return { status, ...(await this.#newer(this.writer.client, key, entries, expected)) };
    } catch (error) {
      throw appendFault(error);
    }
  }

  /** The known entry, a page, and one more to tell whether that was all. */
  #count({ version }: Head): number {
    return (version > 0 ? 1 : 0) + this.#pageSize + 1;
  }

  async #newer(
    client: RedisConnection['client'],
    key: string,
    entries: readonly Entry[],
    { version }: Head,
  ): Promise<NewerEvents> {
    const page = entries.slice(0, this.#pageSize);
    await Promise.all(page.filter(isDoubtful).map(([id]) => mustBeUtf8(client, key, id)));
    return {
      events: page.map((entry, index) => decodeEntry(entry, version + 1 + index)),
      more: entries.length > this.#pageSize,
    };
  }
}

/** ioredis puts U+FFFD for bytes that are no UTF-8: whoever finds one cannot tell what was there. */
function isDoubtful([, fields]: Entry): boolean {
  return fields.some((field) => field.includes('\ufffd'));
}

/** Looks at the bytes of an entry. Throws {@link UnreadableHistory}. */
async function mustBeUtf8(client: RedisConnection['client'], key: string, id: string): Promise<void> {
  const [entry] = await client.xrangeBuffer(key, id, id);
  if (!(entry?.[1] ?? []).every((field) => isUtf8(field)))
    throw new UnreadableHistory(`entry ${id} holds bytes that are no UTF-8`);
}

/** By which commit the history reached `version`, where it did and `entry` stands there. */
function commitAt(version: number, entry: Entry | undefined): string | undefined {
  if (version === 0) return BEGINNING.commit;
  return entry?.[0] === `${version}-0` ? entry[1][5] : undefined;
}
