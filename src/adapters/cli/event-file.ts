import {
  type AnyKind,
  BEGINNING,
  type EncodedEvent,
  type Head,
  ReplayedState,
  type StoredEvent,
  type StreamName,
  UnreadableHistory,
  kindOf,
  parseJsonObject,
} from '../../event-sourcing';
import {
  type ArchiveEnd,
  type EventLine,
  type ExportFormat,
  type Seal,
  continuationLine,
  eventOfLine,
  formatOf,
  parseEventLine,
  parseTrailerLine,
} from './event-lines';
import { Refused } from './exit';
import { linesOf } from './lines';
import { OF_NO_KIND, shown } from './stream-text';

/** One recorded append, with all that is needed to repeat it. */
export interface RecordedCommit {
  readonly unit: 'commit';
  readonly kind: AnyKind;
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
  readonly unit: 'stream-end';
  readonly stream: StreamName;
  readonly head: Head;
}

/** The input is no export, or it is damaged or truncated. The message names the line. */
export class DamagedFile extends Refused {}

/**
 * Reads an export commit by commit, and checks each line against the format and each event against
 * the rules of its kind. Yields a commit only after the next line was read, so never a truncated one.
 *
 * Returns the seal. `archived` is the end of the archives that the file must continue; its state takes the events.
 *
 * Throws {@link DamagedFile}. The commits yielded before it satisfy format and rules, but a changed
 * byte is detected only at the end, by the seal.
 */
export async function* readEventFile(
  input: AsyncIterable<Uint8Array>,
  kinds: readonly AnyKind[],
  archived?: ArchivedState,
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
      if (trailer === undefined) throw damaged(NO_EVENT);
      if (current) yield* current.end();
      if (trailer.streams !== streams || trailer.events !== events)
        throw damaged(
          `counts ${trailer.events} events of ${trailer.streams} streams, but the export has ${events} of ${streams}`,
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
      const kind = kindOf(kinds, event.stream);
      if (kind === undefined) throw damaged(`has the stream ${shown(event.stream)}, ${OF_NO_KIND}`);
      current = new OpenStream(kind, event.stream, archived?.stream === event.stream ? archived : undefined);
      streams++;
    }
    try {
      yield* current.take(event);
    } catch (error) {
      if (error instanceof UnreadableHistory) throw damaged(`breaks a rule: ${error.message}`);
      throw error instanceof WrongLine ? damaged(error.message) : error;
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

const NO_EVENT = 'is not an event in the format of an export, or is truncated';

/** The end of some archives, and the state that their events lead to. */
export interface ArchivedState extends ArchiveEnd {
  readonly state: ReplayedState;
}

class WrongLine extends Error {}

/** The stream being read, with the commit that may be incomplete. */
class OpenStream {
  readonly #state: ReplayedState;
  #head: Head;
  #events: EncodedEvent[] = [];
  #commit = '';
  #lines: string[] = [];

  constructor(
    private readonly kind: AnyKind,
    readonly stream: StreamName,
    archived: ArchivedState | undefined,
  ) {
    this.#state = archived?.state ?? new ReplayedState(kind);
    this.#head = archived?.head ?? BEGINNING;
  }

  *take(line: EventLine): Generator<RecordedCommit> {
    const { version, commit } = line;
    const expected = this.#state.head.version + 1;
    if (version !== expected) throw new WrongLine(`has version ${version}, expected ${expected}`);
    const event = eventOfLine(this.kind, line);
    if (event === undefined) throw new WrongLine(NO_EVENT);
    if (commit !== this.#commit) yield* this.#close();
    this.#state.apply(event);
    this.#commit = commit;
    this.#events.push({ type: event.type, data: event.data });
    this.#lines.push(line.line);
  }

  *end(): Generator<RecordedCommit | StreamEnd> {
    yield* this.#close();
    yield { unit: 'stream-end', stream: this.stream, head: this.#head };
  }

  *#close(): Generator<RecordedCommit> {
    const events = this.#events;
    if (events.length === 0) return;
    const commit = this.#commit;
    yield {
      unit: 'commit',
      kind: this.kind,
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
