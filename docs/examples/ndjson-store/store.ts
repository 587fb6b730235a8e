/**
 * An event store in one file of NDJSON: a line an append, so an append is
 * there whole or not at all. Every line is on the disk before it is
 * acknowledged. All streams are also held in memory, so this is for thousands
 * of plants, not for millions; and for one process at a time.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MemoryEventStore } from 'plant-store/adapters/memory';
import {
  type AppendResult,
  type EventStore,
  type Head,
  OutcomeUnknown,
  type ReadResult,
  StoreUnavailable,
  UnreadableHistory,
} from 'plant-store/application';
import type { PlantEvent } from 'plant-store/domain';
import { parseLine } from './line.js';
import { lock } from './lock.js';

export class NdjsonEventStore implements EventStore {
  /** What is on the disk, and acknowledged: all that anybody is ever answered from. */
  readonly #recorded: MemoryEventStore;
  /** Bytes on the disk. */
  #size = 0;
  #fault: Error | undefined;
  /** Appends wait here for those before them. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly file: FileHandle,
    private readonly unlock: () => Promise<void>,
    pageSize?: number,
  ) {
    this.#recorded = new MemoryEventStore(pageSize);
  }

  /** Rejects where another process has the file open, or where it holds what this cannot read. */
  static async open(path: string, pageSize?: number): Promise<NdjsonEventStore> {
    const unlock = await lock(`${path}.lock`);
    let file: FileHandle | undefined;
    try {
      file = await open(path, 'a+');
      const store = new NdjsonEventStore(file, unlock, pageSize);
      await store.#load();
      // That there is such a file has to survive a crash as well.
      const directory = await open(dirname(path));
      await directory.sync().finally(() => directory.close());
      return store;
    } catch (error) {
      await file?.close();
      await unlock();
      throw error;
    }
  }

  /** Behind the appends under way. */
  async close(): Promise<void> {
    await this.#turn;
    this.#fault ??= new Error('the store was closed');
    await this.file.close();
    await this.unlock();
  }

  async read(stream: string, after: Head): Promise<ReadResult> {
    this.#mustBeSound();
    return this.#recorded.read(stream, after);
  }

  append(
    stream: string,
    expected: Head,
    commit: string,
    events: readonly PlantEvent[],
  ): Promise<AppendResult> {
    const result = this.#turn.then(async () => {
      this.#mustBeSound();
      const newer = await this.#recorded.read(stream, expected);
      const due = newer.status === 'read' && newer.events.length === 0 && events.length > 0 && commit !== '';
      if (due) await this.#write(JSON.stringify({ stream, expected, commit, events }));
      // Appended, a conflict, a reset, a repetition, a RangeError: the memory store knows which.
      return this.#recorded.append(stream, expected, commit, events);
    });
    this.#turn = result.catch(() => {});
    return result;
  }

  async #load(): Promise<void> {
    const bytes = await this.file.readFile();
    this.#size = bytes.lastIndexOf('\n') + 1;
    // What a crash left of a line that was never acknowledged.
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
      // A full disk, say: whatever part of the line was written is taken back, and nothing happened.
      await this.file.truncate(this.#size).catch((error: unknown) => this.#unknown(error));
      throw new StoreUnavailable('the line could not be written', { cause });
    }
    // After a failed sync the system may have forgotten what it had not written, and would not say so again.
    await this.file.datasync().catch((error: unknown) => this.#unknown(error));
    this.#size += bytes.length;
  }

  /** From here on only the file knows what it holds: opening it anew finds out. */
  #unknown(cause: unknown): never {
    this.#fault = new Error('the file has to be opened anew', { cause });
    throw new OutcomeUnknown('whether the line was written is not known', { cause });
  }

  #mustBeSound(): void {
    if (this.#fault) throw new StoreUnavailable(this.#fault.message, { cause: this.#fault });
  }
}
