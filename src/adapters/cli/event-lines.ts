import { createHash, createHmac } from 'node:crypto';
import { PLANTS, parseUser, plantCodec, plantsOf } from '../../application';
import {
  type Head,
  type RecordedEvent,
  type StoredEvent,
  type StreamName,
  parseJsonObject,
  parseStreamName,
  partsOf,
} from '../../event-sourcing';
import type { PlantEvent } from '../../domain';

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
 * Ids are strings: most JSON parsers, jq and JavaScript's among them, round large numbers.
 *
 * The events of one commit are consecutive: an append is recorded as a whole and is imported as a
 * whole. A line is accepted only if it is byte for byte what {@link eventLine} writes.
 */
export const HEADER = '{"format":"plant-store events","version":3}\n';

/** Version 2: instead of a stream it names a user, and all events are of plants. Earlier versions of plant-store read it. */
export const HEADER_2 = '{"format":"plant-store events","version":2}\n';

/** Version 1: as version 2, but its trailer has a plain SHA-256 as `sha256`. */
const HEADER_1 = '{"format":"plant-store events","version":1}\n';

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

const OF_USERS: Pick<ExportFormat, 'streamOf' | 'nameOf'> = {
  streamOf(name) {
    const user = parseUser(name);
    return user && plantsOf(user);
  },
  nameOf(stream) {
    const { category, id } = partsOf(stream);
    return category === PLANTS ? id : undefined;
  },
};

const FORMATS: Readonly<Record<string, ExportFormat>> = {
  [HEADER]: { newSeal, streamOf: parseStreamName, nameOf: (stream) => stream },
  [HEADER_2]: { newSeal: () => newSeal(HEADER_2), ...OF_USERS },
  [HEADER_1]: { newSeal: () => createHash('sha256'), ...OF_USERS },
};

/** The format of a file with this header; `undefined` if the header is unknown. */
export function formatOf(header: string | undefined): ExportFormat | undefined {
  return header !== undefined && Object.hasOwn(FORMATS, header) ? FORMATS[header] : undefined;
}

/**
 * A new seal. It is not a plain SHA-256, so that an edited export is not made valid with `sha256sum`; its key is public.
 * Running instances identify a history by its commit ids: if other events were imported under the
 * same ids, they would keep the old events.
 */
export function newSeal(header = HEADER): Seal {
  return createHmac('sha256', header);
}

export interface EventLine extends RecordedEvent<PlantEvent> {
  readonly stream: StreamName;
  /** The line as {@link eventLine} writes it: it names the stream. */
  readonly line: string;
}

export interface Trailer {
  readonly streams: number;
  readonly events: number;
  /** Digest of all bytes before this line, in hexadecimal. */
  readonly seal: string;
}

/** @param name how the format of the file names the stream. */
export function eventLine(name: string, { version, commit, type, data }: StoredEvent): string {
  return `${commonMembers(name, version, commit, type)}${withTextId(data)}\n`;
}

/** The start of a line: the members that every event has. */
function commonMembers(stream: string, version: number, commit: string, type: string): string {
  return `${JSON.stringify({ stream, version, commit, type }).slice(0, -1)},`;
}

/** The data of an event without the opening brace, with the id as a string. */
function withTextId(data: string): string {
  return data.replace(/^\{"id":(-?[0-9]+)/, '"id":"$1"');
}

/** The inverse of {@link withTextId}. */
function withNumberId(members: string): string {
  return members.replace(/^"id":"(-?[0-9]+)"/, '{"id":$1');
}

export function trailerLine({ streams, events, seal }: Trailer): string {
  return `${JSON.stringify({ streams, events, seal })}\n`;
}

/**
 * Parses what {@link eventLine} writes, or wrote for an older event type; `undefined` for any other line.
 *
 * @param line with its line feed.
 */
export function parseEventLine(line: string, { streamOf }: ExportFormat): EventLine | undefined {
  const { stream: name, type, version, commit } = parseJsonObject(line);
  if (typeof name !== 'string' || typeof type !== 'string') return undefined;
  const stream = streamOf(name);
  if (stream === undefined) return undefined;
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1) return undefined;
  if (typeof commit !== 'string' || commit === '' || !commit.isWellFormed()) return undefined;
  const before = commonMembers(name, version, commit, type);
  if (!line.startsWith(before) || !line.endsWith('\n')) return undefined;
  const members = line.slice(before.length);
  const data = withNumberId(members.slice(0, -1));
  const event = plantCodec.decode({ type, data });
  if (event === undefined) return undefined;
  const current = commonMembers(stream, version, commit, type) + members;
  return { stream, version, commit, type, data, event, line: current };
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

/** Parses a trailer of version 1 or 2; `undefined` for any other line. */
export function parseTrailerLine(line: string): Trailer | undefined {
  const { streams, events, seal, sha256 } = parseJsonObject(line);
  const digest = seal ?? sha256;
  if (typeof streams !== 'number' || typeof events !== 'number' || typeof digest !== 'string')
    return undefined;
  const parsed: Trailer = { streams, events, seal: digest };
  const written =
    seal === undefined ? `${JSON.stringify({ streams, events, sha256 })}\n` : trailerLine(parsed);
  return written === line ? parsed : undefined;
}
