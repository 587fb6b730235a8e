import type { Redis } from 'ioredis';

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
  const entries = await redis.xrange(key, '-', '+');
  return entries.map(([entry, [, type, , data]], index) => {
    if (entry !== `${index + 1}-0`) throw new Error(`event ${index + 1} of ${key} is stored as ${entry}`);
    const { id, name } = JSON.parse(data!) as { id: number; name?: string };
    return { entry, type: type!, id, ...(name === undefined ? {} : { name }) };
  });
}
