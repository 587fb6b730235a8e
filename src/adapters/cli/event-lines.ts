import { createHash, createHmac } from 'node:crypto';
import { parseUser, type RecordedEvent, type User } from '../../application';
import { eventFrom, parsePlantId } from '../../domain';

/**
 * How exported events are written down: NDJSON, a line each, between a first
 * line that says what this is and a last one that says that nothing is missing.
 *
 *     {"format":"plant-store events","version":2}
 *     {"stream":"alice","version":1,"commit":"2026-…","type":"PlantCreated","id":"9007199254740993","name":"Fern"}
 *     {"streams":1,"events":1,"seal":"…of all lines above, their line feeds included"}
 *
 * Ids are strings. A JSON number would be as exact on paper, but most parsers,
 * jq and JavaScript's among them, would round it on the way through.
 *
 * Events of one commit share it and stand side by side: an append is recorded
 * whole, and is imported whole. Lines are read as strictly as they are written.
 */
export const HEADER = '{"format":"plant-store events","version":2}\n';

/** Its last line has the SHA-256 of what comes before it as `sha256`. Read, and no longer written. */
const HEADER_1 = '{"format":"plant-store events","version":1}\n';

/** No secret. It makes the seal another value than the SHA-256. */
const SEAL_KEY = HEADER;

/** Takes all bytes before the last line. */
export interface Seal {
  update(bytes: string | Uint8Array): unknown;
  digest(encoding: 'hex'): string;
}

/**
 * The seal of an export that begins with this line; `undefined` where none does.
 *
 * It is no plain SHA-256, so that no edited export passes for a whole one by
 * accident. Instances that run tell histories apart by commit ids alone: other
 * events under the same ids would leave them with the old ones.
 */
export function sealOf(header: string | undefined): Seal | undefined {
  if (header === HEADER) return createHmac('sha256', SEAL_KEY);
  return header === HEADER_1 ? createHash('sha256') : undefined;
}

export interface EventLine extends RecordedEvent {
  readonly stream: User;
}

export interface Trailer {
  readonly streams: number;
  readonly events: number;
  /** Of all bytes before this line, in hexadecimal. */
  readonly seal: string;
}

export function eventLine(stream: string, { version, commit, event }: RecordedEvent): string {
  // An undefined tag is left out.
  const { type, id, name, tag } = { name: undefined, tag: undefined, ...event };
  return `${JSON.stringify({ stream, version, commit, type, id, name, tag })}\n`;
}

export function trailerLine({ streams, events, seal }: Trailer): string {
  return `${JSON.stringify({ streams, events, seal })}\n`;
}

/** `undefined` where `line` (with its line feed) is not exactly what {@link eventLine} writes. */
export function parseEventLine(line: string): EventLine | undefined {
  const members = parseMembers(line);
  const stream = parseUser(text(members['stream']));
  const { type, version, commit, name, tag } = members;
  const event = eventFrom({ type, id: parsePlantId(text(members['id'])), name, tag });
  if (stream === undefined || event === undefined) return undefined;
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1) return undefined;
  if (typeof commit !== 'string' || commit === '' || !commit.isWellFormed()) return undefined;
  const parsed: EventLine = { stream, version, commit, event };
  return eventLine(stream, parsed) === line ? parsed : undefined;
}

/** `undefined` where `line` is no trailer of this version or of the first. */
export function parseTrailerLine(line: string): Trailer | undefined {
  const { streams, events, seal, sha256 } = parseMembers(line);
  const digest = seal ?? sha256;
  if (typeof streams !== 'number' || typeof events !== 'number' || typeof digest !== 'string')
    return undefined;
  const parsed: Trailer = { streams, events, seal: digest };
  const written =
    seal === undefined ? `${JSON.stringify({ streams, events, sha256 })}\n` : trailerLine(parsed);
  return written === line ? parsed : undefined;
}

function parseMembers(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
