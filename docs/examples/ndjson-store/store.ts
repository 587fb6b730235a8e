/**
 * An event store in one NDJSON file. An append is one line, so it is recorded
 * completely or not at all. A line is on the disk before its append is
 * acknowledged. The store holds all streams in memory too, so it is for thousands
 * of plants, not for millions, and for one process at a time.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MemoryEventStore } from 'plant-store/adapters/memory';
import {
  type AppendResult,
  type EncodedEvent,
  type EventStore,
  type Head,
  OutcomeUnknown,
  type ReadResult,
  StoreUnavailable,
  type StreamName,
  UnreadableHistory,
} from 'plant-store/event-sourcing';
import { parseLine, writeLine } from './line.js';
import { lock } from './lock.js';

export class NdjsonEventStore implements EventStore {
  /** The events on the disk. All results come from here. */
  readonly #recorded: MemoryEventStore;
  /** Bytes on the disk. */
  #size = 0;
  #fault: Error | undefined;
  /** The last append. The next one waits for it. */
  #lastAppend: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly file: FileHandle,
    private readonly unlock: () => Promise<void>,
    pageSize?: number,
  ) {
    this.#recorded = new MemoryEventStore(pageSize);
  }

  /** Rejects if another process has the file open, or if the file has an unreadable line. */
  static async open(path: string, pageSize?: number): Promise<NdjsonEventStore> {
    const unlock = await lock(`${path}.lock`);
    let file: FileHandle | undefined;
    try {
      file = await open(path, 'a+');
      const store = new NdjsonEventStore(file, unlock, pageSize);
      await store.#load();
      // The name of a new file has to survive a crash, too.
      const directory = await open(dirname(path));
      await directory.sync().finally(() => directory.close());
      return store;
    } catch (error) {
      await file?.close();
      await unlock();
      throw error;
    }
  }

  /** Waits for the appends in flight. */
  async close(): Promise<void> {
    await this.#lastAppend;
    this.#fault ??= new Error('the store was closed');
    await this.file.close();
    await this.unlock();
  }

  async read(stream: StreamName, after: Head): Promise<ReadResult> {
    this.#throwIfFaulty();
    return this.#recorded.read(stream, after);
  }

  append(
    stream: StreamName,
    expected: Head,
    commit: string,
    events: readonly EncodedEvent[],
  ): Promise<AppendResult> {
    const result = this.#lastAppend.then(async () => {
      this.#throwIfFaulty();
      const newer = await this.#recorded.read(stream, expected);
      const isNew =
        newer.status === 'read' && newer.events.length === 0 && events.length > 0 && commit !== '';
      if (isNew) await this.#write(writeLine({ stream, expected, commit, events }));
      // The memory store knows the result: appended, a conflict, a reset, a repetition, a RangeError.
      return this.#recorded.append(stream, expected, commit, events);
    });
    this.#lastAppend = result.catch(() => {});
    return result;
  }

  async #load(): Promise<void> {
    const bytes = await this.file.readFile();
    this.#size = bytes.lastIndexOf('\n') + 1;
    // The part of a line that a crash left. Its append was never acknowledged.
    if (this.#size < bytes.length) await this.file.truncate(this.#size);
    const lines = bytes.toString('utf8', 0, this.#size).split('\n').slice(0, -1);
    for (const [index, text] of lines.entries()) {
      const line = parseLine(text);
      const { status } = line
        ? await this.#recorded.append(line.stream, line.expected, line.commit, line.events)
        : { status: 'unreadable' };
      if (status !== 'appended') throw new UnreadableHistory(`line ${index + 1} is not one of this store`);
    }
  }

  async #write(line: string): Promise<void> {
    const bytes = Buffer.from(`${line}\n`);
    try {
      await this.file.appendFile(bytes);
    } catch (cause) {
      // For example a full disk. The written part of the line is removed, so nothing was written.
      await this.file.truncate(this.#size).catch((error: unknown) => this.#unknown(error));
      throw new StoreUnavailable('the line could not be written', { cause });
    }
    // After a failed sync the system may have dropped the unwritten data, and a second sync may succeed.
    await this.file.datasync().catch((error: unknown) => this.#unknown(error));
    this.#size += bytes.length;
  }

  /** The content of the file is unknown until it is opened again. */
  #unknown(cause: unknown): never {
    this.#fault = new Error('the file has to be opened again', { cause });
    throw new OutcomeUnknown('whether the line was written is not known', { cause });
  }

  #throwIfFaulty(): void {
    if (this.#fault) throw new StoreUnavailable(this.#fault.message, { cause: this.#fault });
  }
}
