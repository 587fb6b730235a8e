import {
  type Codec,
  type EncodedEvent,
  type Head,
  type StreamName,
  parseStreamName,
} from 'plant-store/event-sourcing';

/** An append in the file: a line of JSON with encoded events. */
export interface Line<Event> {
  readonly stream: StreamName;
  readonly expected: Head;
  readonly commit: string;
  readonly events: readonly Event[];
}

export function writeLine<Event>({ events, ...append }: Line<Event>, codec: Codec<Event>): string {
  return JSON.stringify({ ...append, events: events.map((event) => codec.encode(event)) });
}

/** Returns `undefined` for a line that this store did not write. The caller must refuse it, not skip it. */
export function parseLine<Event>(text: string, codec: Codec<Event>): Line<Event> | undefined {
  try {
    const written = JSON.parse(text) as Line<EncodedEvent>;
    const { expected, commit } = written;
    const stream = parseStreamName(written.stream);
    const events = written.events.map((encoded) => codec.decode(encoded));
    if (stream === undefined || !isDecoded(events)) return undefined;
    const line = { stream, expected, commit, events };
    // A line that is not exactly as this store writes it comes from another program.
    return writeLine(line, codec) === text ? line : undefined;
  } catch {
    return undefined;
  }
}

function isDecoded<Event>(events: readonly (Event | undefined)[]): events is readonly Event[] {
  return !events.includes(undefined);
}
