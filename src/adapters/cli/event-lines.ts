import { createHmac } from 'node:crypto';
import { parseUser, plantKind, plantsOf } from '../../application';
import {
  type AnyKind,
  type Head,
  type RecordedEvent,
  type StoredEvent,
  type StreamName,
  parseJsonObject,
  parseStreamName,
  partsOf,
} from '../../event-sourcing';
import type { Output } from './terminal';

/**
 * The format of an export: NDJSON, one event per line, between a header and a trailer.
 *
 *     {"format":"plant-store events","version":3}
 *     {"stream":"plants/alice","version":1,"commit":"2026-…","type":"PlantCreated","id":"9007199254740993","name":"Fern"}
 *     {"streams":1,"events":1,"seal":"…of all lines above, their line feeds included"}
 *
 * An archive is an export of the first events of one stream. One that continues another archive begins with its head and
 * seal, so it is not mistaken for a whole history:
 *
 *     {"stream":"plants/alice","after":4,"commit":"2026-…","archive":"…"}
 *
 * The header names the format. The trailer has the number of streams and events, and a seal, so
 * that truncation and changes are detected.
 *
 * The kind of a stream decides how the data of its events is written, see `ExportedData`.
 *
 * The events of one commit are consecutive: an append is recorded as a whole and is imported as a
 * whole. A line is accepted only if it is byte for byte what {@link eventLine} writes.
 */
export const HEADER = '{"format":"plant-store events","version":3}\n';

/** Version 2: instead of a stream it names a user, and all events are of plants. Earlier versions of plant-store read it. */
export const HEADER_2 = '{"format":"plant-store events","version":2}\n';

/** Digest of all bytes before the trailer. */
export interface Seal {
  update(bytes: string | Uint8Array): unknown;
  digest(encoding: 'hex'): string;
}

/** What differs between the versions of the format. */
export interface ExportFormat {
  newSeal(): Seal;
  /** The stream that a line names; `undefined` if that is no name. */
  streamOf(name: string): StreamName | undefined;
  /** The inverse of `streamOf`; `undefined` for a stream that has no name in this version. */
  nameOf(stream: StreamName): string | undefined;
}

const FORMATS: Readonly<Record<string, ExportFormat>> = {
  [HEADER]: { newSeal, streamOf: parseStreamName, nameOf: (stream) => stream },
  [HEADER_2]: {
    newSeal: () => newSeal(HEADER_2),
    streamOf(name) {
      const user = parseUser(name);
      return user && plantsOf(user);
    },
    nameOf(stream) {
      const { category, id } = partsOf(stream);
      return category === plantKind.category ? id : undefined;
    },
  },
};

/** The format of a file with this header; `undefined` if the header is unknown. */
export function formatOf(header: string | undefined): ExportFormat | undefined {
  return header !== undefined && Object.hasOwn(FORMATS, header) ? FORMATS[header] : undefined;
}

/**
 * A new seal. It is an HMAC with a public key, because `sha256sum` could make an edited export valid. Such an export has
 * other events under the same commit ids. Running instances identify a history by these ids, so they would keep the
 * old events after its import.
 */
export function newSeal(header = HEADER): Seal {
  return createHmac('sha256', header);
}

/** An event as a line has it. */
export interface EventLine {
  readonly stream: StreamName;
  readonly version: number;
  readonly commit: string;
  readonly type: string;
  /** Its data, as its kind exports it. */
  readonly exported: string;
  /** The line as {@link eventLine} writes it: it names the stream. */
  readonly line: string;
}

interface Trailer {
  readonly streams: number;
  readonly events: number;
  /** Digest of all bytes before this line, in hexadecimal. */
  readonly seal: string;
}

/** @param name how the format of the file names the stream. */
export function eventLine(
  { exported }: Pick<AnyKind, 'exported'>,
  name: string,
  { version, commit, type, data }: StoredEvent,
): string {
  return lineOf(name, version, commit, type, exported?.write(data) ?? data);
}

/** The event of a line; `undefined` if {@link eventLine} does not write it so, nor did for an older event type. */
export function eventOfLine(kind: AnyKind, line: EventLine): RecordedEvent<unknown> | undefined {
  const { version, commit, type, exported } = line;
  const data = kind.exported?.read(exported) ?? exported;
  if (kind.exported && kind.exported.write(data) !== exported) return undefined;
  const event = kind.codec.decode({ type, data });
  return event === undefined ? undefined : { version, commit, type, data, event };
}

function lineOf(stream: string, version: number, commit: string, type: string, exported: string): string {
  const common = JSON.stringify({ stream, version, commit, type }).slice(0, -1);
  return `${common}${exported === '{}' ? '' : ','}${exported.slice(1)}\n`;
}

/** Writes the lines of an export, and a trailer with their seal. */
export class SealedLines {
  readonly #seal: Seal;

  constructor(
    private readonly output: Output,
    header = HEADER,
  ) {
    this.#seal = newSeal(header);
  }

  write(lines: string): Promise<void> {
    this.#seal.update(lines);
    return this.output.write(lines);
  }

  end(streams: number, events: number): Promise<void> {
    return this.output.write(trailerLine({ streams, events, seal: this.#seal.digest('hex') }));
  }
}

export function trailerLine({ streams, events, seal }: Trailer): string {
  return `${JSON.stringify({ streams, events, seal })}\n`;
}

const TEXT = '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"';
// The members of the event may have these names, too, so the line is not parsed as a whole.
const LINE = new RegExp(
  `^\\{"stream":(${TEXT}),"version":([0-9]+),"commit":(${TEXT}),"type":(${TEXT})(?:,(.*)|)\\}\n$`,
  's',
);

/**
 * Parses what {@link eventLine} writes for any data; `undefined` for any other line.
 *
 * @param line with its line feed.
 */
export function parseEventLine(line: string, { streamOf }: ExportFormat): EventLine | undefined {
  const [, ...parts] = LINE.exec(line) ?? [];
  const [name, commit, type] = [parts[0], parts[2], parts[3]].map(parseText);
  const version = Number(parts[1]);
  if (name === undefined || commit === undefined || type === undefined) return undefined;
  const stream = streamOf(name);
  if (stream === undefined || commit === '' || !commit.isWellFormed()) return undefined;
  if (!Number.isSafeInteger(version) || version < 1) return undefined;
  const exported = `{${parts[4] ?? ''}}`;
  if (lineOf(name, version, commit, type, exported) !== line) return undefined;
  return { stream, version, commit, type, exported, line: lineOf(stream, version, commit, type, exported) };
}

function parseText(json = ''): string | undefined {
  try {
    return JSON.parse(json) as string;
  } catch {
    return undefined;
  }
}

/** The end of the archive that another one continues. */
export interface ArchiveEnd {
  readonly stream: StreamName;
  readonly head: Head;
  /** The seal of the archive that ends there; empty at the beginning of the stream. */
  readonly archive: string;
}

/** @param name how the format of the file names the stream. */
export function continuationLine({ stream, head, archive }: ArchiveEnd, name: string = stream): string {
  return `${JSON.stringify({ stream: name, after: head.version, commit: head.commit, archive })}\n`;
}

/** Parses what {@link trailerLine} writes; `undefined` for any other line. */
export function parseTrailerLine(line: string): Trailer | undefined {
  const { streams, events, seal } = parseJsonObject(line);
  if (typeof streams !== 'number' || typeof events !== 'number' || typeof seal !== 'string') return undefined;
  const parsed: Trailer = { streams, events, seal };
  return trailerLine(parsed) === line ? parsed : undefined;
}
