import type { Redis } from 'ioredis';

/** An entry of a stream, as ioredis returns it. */
export type StreamEntry = [id: string, fields: string[]];

/** An event as an entry of a Redis stream. */
export interface StoredEvent {
  /** The id of the entry. */
  readonly entry: string;
  readonly type: string;
  readonly id: number;
  readonly name?: string;
}

/** The events of a stream that was never trimmed. Throws if the id of an entry is not its version. */
export async function storedEvents(redis: Pick<Redis, 'xrange'>, key: string): Promise<StoredEvent[]> {
  return eventsOf(key, await redis.xrange(key, '-', '+'));
}

/** The events of all entries that a stream ever had. Throws if the id of one is not its version. */
export function eventsOf(key: string, entries: readonly StreamEntry[]): StoredEvent[] {
  return entries.map(([entry, [, type, , data]], index) => {
    if (entry !== `${index + 1}-0`) throw new Error(`event ${index + 1} of ${key} is stored as ${entry}`);
    const { id, name } = JSON.parse(data!) as { id: number; name?: string };
    return { entry, type: type!, id, ...(name === undefined ? {} : { name }) };
  });
}
