import { type EncodedEvent, type Head, type StreamName, parseStreamName } from 'plant-store/event-sourcing';

/** An append in the file: a line of JSON. */
export interface Line {
  readonly stream: StreamName;
  readonly expected: Head;
  readonly commit: string;
  readonly events: readonly EncodedEvent[];
}

export function writeLine({ stream, expected, commit, events }: Line): string {
  const { version, commit: base } = expected;
  return JSON.stringify({
    stream,
    expected: { version, commit: base },
    commit,
    events: events.map(({ type, data }) => ({ type, data })),
  });
}

/** Returns `undefined` for a line that this store did not write. The caller must refuse it, not skip it. */
export function parseLine(text: string): Line | undefined {
  try {
    const line = JSON.parse(text) as Line;
    const isWritten = parseStreamName(line.stream) !== undefined && line.events.every(isEncoded);
    // A line that is not exactly as this store writes it comes from another program.
    return isWritten && writeLine(line) === text ? line : undefined;
  } catch {
    return undefined;
  }
}

function isEncoded({ type, data }: EncodedEvent): boolean {
  return typeof type === 'string' && typeof data === 'string';
}
