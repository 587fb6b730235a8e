import { createHash, createHmac } from 'node:crypto';
import { type User, parseUser, plantCodec } from '../../application';
import { type Head, type RecordedEvent, type StoredEvent, parseJsonObject } from '../../event-sourcing';
import type { PlantEvent } from '../../domain';

/**
 * The format of an export: NDJSON, one event per line, between a header and a trailer.
 *
 *     {"format":"plant-store events","version":2}
 *     {"stream":"alice","version":1,"commit":"2026-…","type":"PlantCreated","id":"9007199254740993","name":"Fern"}
 *     {"streams":1,"events":1,"seal":"…of all lines above, their line feeds included"}
 *
 * An archive is an export of the first events of one user. One that continues another archive begins with its head and
 * seal, so it is not mistaken for a whole history:
 *
 *     {"stream":"alice","after":4,"commit":"2026-…","archive":"…"}
 *
 * The header names the format. The trailer has the number of streams and events, and a seal, so
 * that truncation and changes are detected.
 *
 * Ids are strings: most JSON parsers, jq and JavaScript's among them, round large numbers.
 *
 * The events of one commit are consecutive: an append is recorded as a whole and is imported as a
 * whole. A line is accepted only if it is byte for byte what {@link eventLine} writes.
 */
export const HEADER = '{"format":"plant-store events","version":2}\n';

/** Version 1: its trailer has a plain SHA-256 as `sha256`. It is read, not written. */
const HEADER_1 = '{"format":"plant-store events","version":1}\n';

/** Public; it only makes the seal differ from a plain SHA-256. */
const SEAL_KEY = HEADER;

/** Digest of all bytes before the trailer. */
export interface Seal {
  update(bytes: string | Uint8Array): unknown;
  digest(encoding: 'hex'): string;
}

/**
 * A new seal for an export with this header; `undefined` if the header is unknown.
 *
 * The seal is not a plain SHA-256, so that an edited export is not made valid with `sha256sum`.
 * Running instances identify a history by its commit ids: if other events were imported under the
 * same ids, they would keep the old events.
 */
export function sealOf(header: string | undefined): Seal | undefined {
  if (header === HEADER) return createHmac('sha256', SEAL_KEY);
  return header === HEADER_1 ? createHash('sha256') : undefined;
}

export interface EventLine extends RecordedEvent<PlantEvent> {
  readonly stream: User;
}

export interface Trailer {
  readonly streams: number;
  readonly events: number;
  /** Digest of all bytes before this line, in hexadecimal. */
  readonly seal: string;
}

export function eventLine(stream: User, { version, commit, type, data }: StoredEvent): string {
  return `${commonMembers(stream, version, commit, type)}${withTextId(data)}\n`;
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
export function parseEventLine(line: string): EventLine | undefined {
  const { type, version, commit, ...members } = parseJsonObject(line);
  const stream = parseUser(text(members['stream']));
  if (stream === undefined || typeof type !== 'string') return undefined;
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1) return undefined;
  if (typeof commit !== 'string' || commit === '' || !commit.isWellFormed()) return undefined;
  const before = commonMembers(stream, version, commit, type);
  if (!line.startsWith(before) || !line.endsWith('\n')) return undefined;
  const data = withNumberId(line.slice(before.length, -1));
  const event = plantCodec.decode({ type, data });
  return event && { stream, version, commit, type, data, event };
}

/** The end of the archive that another one continues. */
export interface ArchiveEnd {
  readonly stream: User;
  readonly head: Head;
  /** The seal of the archive that ends there; empty at the beginning of the stream. */
  readonly archive: string;
}

export function continuationLine({ stream, head, archive }: ArchiveEnd): string {
  return `${JSON.stringify({ stream, after: head.version, commit: head.commit, archive })}\n`;
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

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
