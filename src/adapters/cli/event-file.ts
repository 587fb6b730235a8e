import {
  BEGINNING,
  type EncodedEvent,
  type Head,
  type StoredEvent,
  type StreamName,
  parseJsonObject,
} from '../../event-sourcing';
import { ImpossibleHistory, PlantList } from '../../domain';
import {
  type ArchiveEnd,
  type EventLine,
  type ExportFormat,
  type Seal,
  continuationLine,
  formatOf,
  parseEventLine,
  parseTrailerLine,
} from './event-lines';
import { Refused } from './exit';
import { linesOf } from './lines';

/** One recorded append, with all that is needed to repeat it. */
export interface RecordedCommit {
  readonly kind: 'commit';
  readonly stream: StreamName;
  readonly expected: Head;
  readonly commit: string;
  readonly events: readonly EncodedEvent[];
  /** The lines of the export, as this version writes them. */
  readonly lines: string;
}

/** The events of a commit with their versions. */
export function recordedOf({ expected, commit, events }: RecordedCommit): readonly StoredEvent[] {
  return events.map((event, index) => ({ ...event, version: expected.version + 1 + index, commit }));
}

/** The end of a stream: no more of its commits follow. */
export interface StreamEnd {
  readonly kind: 'stream-end';
  readonly stream: StreamName;
  readonly head: Head;
  /** Number of living plants at `head`. */
  readonly plants: number;
}

/** The input is no export, or it is damaged or truncated. The message names the line. */
export class DamagedFile extends Refused {}

/**
 * Reads an export commit by commit, and checks each line against the format and each event against
 * the rules of the domain. Yields a commit only after the next line was read, so never a truncated one.
 *
 * Returns the seal. `archived` is the end of the archives that the file must continue; its list takes the events.
 *
 * Throws {@link DamagedFile}. The commits yielded before it satisfy format and rules, but a changed
 * byte is detected only at the end, by the seal.
 */
export async function* readEventFile(
  input: AsyncIterable<Uint8Array>,
  archived?: ArchivedList,
): AsyncGenerator<RecordedCommit | StreamEnd, string> {
  let format: ExportFormat | undefined;
  let seal!: Seal;
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let number = 0;
  let streams = 0;
  let events = 0;
  let end: string | undefined;
  let current: OpenStream | undefined;
  /** The line that has to follow the header. */
  let expected: string | undefined;
  const damaged = (why: string) => new DamagedFile(`line ${number} ${why}`);

  for await (const bytes of linesOf(input)) {
    number++;
    if (end !== undefined) throw damaged('follows the end of the export: import one export at a time');
    const line = decode(decoder, bytes);
    if (format === undefined) {
      format = formatOf(line);
      if (format === undefined) throw damaged('is not the first line of an export of plant-store');
      seal = format.newSeal();
      seal.update(bytes);
      if (archived && archived.head.version > 0)
        expected = continuationLine(archived, format.nameOf(archived.stream));
      continue;
    }
    if (expected === undefined && number === 2 && 'after' in parseJsonObject(line ?? ''))
      throw damaged(CONTINUES_ANOTHER);
    if (expected !== undefined) {
      if (line !== expected) throw damaged('does not continue the archive before it');
      expected = undefined;
      seal.update(bytes);
      continue;
    }
    const event = line === undefined ? undefined : parseEventLine(line, format);
    if (event === undefined) {
      const trailer = line === undefined ? undefined : parseTrailerLine(line);
      if (trailer === undefined) throw damaged('is not an event in the format of an export, or is truncated');
      if (current) yield* current.end();
      if (trailer.streams !== streams || trailer.events !== events)
        throw damaged(
          `counts ${trailer.events} events of ${trailer.streams} users, but the export has ${events} of ${streams}`,
        );
      if (trailer.seal !== seal.digest('hex'))
        throw damaged(
          'has a seal that does not match the lines before it: the export was changed, and a changed export is not imported',
        );
      end = trailer.seal;
      continue;
    }
    seal.update(bytes);
    events++;
    if (current?.stream !== event.stream) {
      if (current) yield* current.end();
      current = new OpenStream(event.stream, archived?.stream === event.stream ? archived : undefined);
      streams++;
    }
    try {
      yield* current.take(event);
    } catch (error) {
      if (error instanceof ImpossibleHistory) throw damaged(`breaks a rule: ${error.message}`);
      throw error instanceof OutOfOrder ? damaged(error.message) : error;
    }
  }
  if (end === undefined)
    throw new DamagedFile(
      `the file ends after line ${number} without the last line of an export: it is truncated`,
    );
  return end;
}

const CONTINUES_ANOTHER =
  'continues an archive: `events export` with --archive for each archive joins them to one export';

/** The end of some archives, and the list that their events lead to. */
export interface ArchivedList extends ArchiveEnd {
  readonly list: PlantList;
}

class OutOfOrder extends Error {}

/** The stream being read, with the commit that may be incomplete. */
class OpenStream {
  readonly #plants: PlantList;
  #head: Head;
  #events: EncodedEvent[] = [];
  #commit = '';
  #lines: string[] = [];

  constructor(
    readonly stream: StreamName,
    archived: ArchivedList | undefined,
  ) {
    this.#plants = archived?.list ?? new PlantList();
    this.#head = archived?.head ?? BEGINNING;
  }

  *take({ version, commit, type, data, event, line }: EventLine): Generator<RecordedCommit> {
    const expected = this.#plants.version + 1;
    if (version !== expected) throw new OutOfOrder(`has version ${version}, expected ${expected}`);
    if (commit !== this.#commit) yield* this.#close();
    this.#plants.evolve(event);
    this.#commit = commit;
    this.#events.push({ type, data });
    this.#lines.push(line);
  }

  *end(): Generator<RecordedCommit | StreamEnd> {
    yield* this.#close();
    yield { kind: 'stream-end', stream: this.stream, head: this.#head, plants: this.#plants.size };
  }

  *#close(): Generator<RecordedCommit> {
    const events = this.#events;
    if (events.length === 0) return;
    const commit = this.#commit;
    yield {
      kind: 'commit',
      stream: this.stream,
      expected: this.#head,
      commit,
      events,
      lines: this.#lines.join(''),
    };
    this.#head = { version: this.#head.version + events.length, commit };
    this.#events = [];
    this.#lines = [];
  }
}

function decode(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
