import type { DatabaseSync } from 'node:sqlite';
import {
  FEED_BEGINNING,
  type Feed,
  type FeedEntry,
  type FeedPosition,
  type FeedReadResult,
  type FeedTrail,
  type StreamName,
} from 'plant-store/event-sourcing';
import { type Row, execute, textOf } from './store.js';

const SELECT = `
  SELECT sequence, CAST(commit_id AS BLOB) AS "commit", CAST(stream AS BLOB) AS stream, version FROM feed`;

/** The commits of a `SqliteEventStore`, in one bucket. An append adds its entry in its own transaction. */
export class SqliteFeed implements Feed {
  readonly buckets = 1;

  constructor(private readonly database: DatabaseSync) {}

  bucketOf(): number {
    return 0;
  }

  async read(_bucket: number, [after, ...older]: FeedTrail, limit = 500): Promise<FeedReadResult> {
    const rows = this.#all(
      'WHERE sequence > ? AND stream IS NOT NULL ORDER BY sequence LIMIT ?',
      after.sequence,
      limit + 1,
    );
    // After the entries were read: if another process trims some before that, it trims the position as well.
    const status = this.#statusOf(after);
    if (status === 'trimmed') return { status };
    if (status === 'reset') return { status, shared: older.find((each) => this.#statusOf(each) === 'read') };
    return { status, entries: rows.slice(0, limit).map(entryOf), more: rows.length > limit };
  }

  async end(): Promise<FeedPosition> {
    return this.#all('ORDER BY sequence DESC LIMIT 1').map(positionOf)[0] ?? FEED_BEGINNING;
  }

  #statusOf({ sequence, commit }: FeedPosition): FeedReadResult['status'] {
    const first = this.#all('WHERE sequence >= ? ORDER BY sequence LIMIT 1', sequence).map(positionOf)[0];
    if (sequence === 0 && commit === '') return (first?.sequence ?? 1) === 1 ? 'read' : 'trimmed';
    if (first === undefined || sequence === 0) return 'reset';
    if (first.sequence > sequence) return 'trimmed';
    return first.commit === commit ? 'read' : 'reset';
  }

  #all(where: string, ...numbers: number[]): Row[] {
    return execute(() => this.database.prepare(`${SELECT} ${where}`).all(...numbers));
  }
}

function positionOf(row: Row): FeedPosition {
  return { sequence: Number(row['sequence']), commit: textOf(row, 'commit') };
}

function entryOf(row: Row): FeedEntry {
  const stream = textOf(row, 'stream') as StreamName;
  return { ...positionOf(row), stream, version: Number(row['version']) };
}
