import { createHash } from 'node:crypto';
import { type EventStore, type Head, type StoredEvent, headOf, replay } from '../../event-sourcing';
import { endOf, readArchive } from './archives';
import { decodeBase } from './base';
import type { CliStore } from './command';
import type { ArchivedState } from './event-file';
import { HEADER, SealedLines, continuationLine, eventLine } from './event-lines';
import { Refused } from './exit';
import { digestOf } from './snapshot-check';
import { shown } from './stream-text';
import { escapeForTerminal, type Output } from './terminal';

/** The first events of a stream that are to be archived: those after `start` up to `head`. */
export interface Archivable {
  readonly start: ArchivedState;
  /** The end of a commit. */
  readonly head: Head;
  readonly events: number;
  /** SHA-256 of their lines in the archive. */
  readonly digest: string;
}

/** Reads the complete commits after `start` whose events are all up to version `until`. */
export async function findArchivable(
  store: EventStore,
  start: ArchivedState,
  until: number,
): Promise<Archivable> {
  const digest = createHash('sha256');
  let { head } = start;
  for await (const events of commitsUntil(store, start, until)) {
    for (const event of events) digest.update(eventLine(start.state.kind, start.stream, event));
    head = events.length > 0 ? headOf(events.at(-1)!) : head;
  }
  return { start, head, events: head.version - start.head.version, digest: digest.digest('hex') };
}

/** Writes the archive. */
export async function writeArchive(
  store: EventStore,
  { start, head }: Archivable,
  output: Output,
): Promise<void> {
  const lines = new SealedLines(output);
  await lines.write(HEADER);
  if (start.head.version > 0) await lines.write(continuationLine(start));
  let count = 0;
  for await (const events of commitsUntil(store, start, head.version)) {
    count += events.length;
    await lines.write(events.map((event) => eventLine(start.state.kind, start.stream, event)).join(''));
  }
  await lines.end(1, count);
}

/**
 * Reads the archive at `path` back, and compares it with the events in the store. Applies its events to the state of
 * `start`. Resolves with where it ends. Throws {@link Refused} if it differs.
 */
export async function checkArchive(
  path: string,
  { start, head, digest }: Archivable,
): Promise<ArchivedState> {
  const found = createHash('sha256');
  const end = await endOf(readArchive(path, start), ({ lines }) => found.update(lines));
  if (found.digest('hex') === digest && end.head.version === head.version) return end;
  throw new Refused(
    `${escapeForTerminal(path)} does not have the events of ${shown(start.stream)} after version ` +
      `${start.head.version} up to ${head.version}: nothing was removed from the store. Name another file`,
  );
}

/** Saves the base at the end of an archive, which replaces that at its start. */
export async function saveBase(
  { archive }: CliStore,
  end: ArchivedState,
  start: ArchivedState,
): Promise<void> {
  const base = { ...end.state.snapshot(), archive: end.archive };
  const expected = digestOf(end.state);
  const saved = await archive!.saveBase(end.stream, base, start.head.version, async (stored) => {
    if (digestOf(await decodeBase(end.state.kind, stored)) !== expected)
      throw new Refused('the base snapshot was read back and differs; nothing was removed from the store');
  });
  if (!saved)
    throw new Refused(
      `the history of ${shown(end.stream)} changed, or another command archives it; ` +
        'nothing was removed from the store, and the command can be repeated',
    );
}

/** Removes the archived events from the store, in steps. Resolves with their number. */
export async function trim(
  { archive }: CliStore,
  { stream, head }: ArchivedState,
  interrupted: AbortSignal,
): Promise<number> {
  for (let total = 0; ;) {
    const removed = await archive!.trim(stream, head);
    if (removed === undefined)
      throw new Refused(`the history of ${shown(stream)} changed; repeat the command`);
    total += removed;
    if (removed === 0 || interrupted.aborted) return total;
  }
}

/** Complete commits after `start` whose events are all up to version `until`, page by page. */
async function* commitsUntil(
  store: EventStore,
  { stream, head, state: { kind } }: ArchivedState,
  until: number,
): AsyncGenerator<readonly StoredEvent[]> {
  /** The commit that may have more events. */
  let last: StoredEvent[] = [];
  for await (const page of replay(store, stream, kind.codec, head)) {
    const complete: StoredEvent[] = [];
    for (const event of page) {
      if (last[0]?.commit !== event.commit) {
        complete.push(...last);
        last = [];
      }
      if (event.version > until) {
        yield complete;
        return;
      }
      last.push(event);
    }
    yield complete;
  }
  yield last;
}
