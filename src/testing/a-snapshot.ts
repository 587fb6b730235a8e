/** Helpers of the contracts of snapshots and archives. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import {
  BEGINNING,
  type Base,
  BrokenSnapshot,
  type Head,
  type Snapshot,
  StoreUnavailable,
  type StoredBase,
} from '../event-sourcing';
import type { Stream } from './a-stream';
import type { Subject } from './case';

/** A new stream with an event, and its head. */
export async function written(subject: Subject): Promise<{ stream: Stream; head: Head }> {
  const stream = subject.aStream();
  return { stream, head: await stream.add(BEGINNING, subject.few[0]) };
}

/** A new stream of four events in three commits. `heads` has those of the commits, by version. */
export async function threeCommits(subject: Subject): Promise<{
  stream: Stream;
  heads: { readonly 1: Head; readonly 3: Head; readonly 4: Head };
  events: Subject['few'];
}> {
  const stream = subject.aStream();
  const events = subject.few;
  const first = await stream.add(BEGINNING, events[0]);
  const base = await stream.add(first, events[1], events[2]);
  return { stream, heads: { 1: first, 3: base, 4: await stream.add(base, events[3]) }, events };
}

export function snapshotAt(head: Head, ...chunks: string[]): Snapshot<string[]> {
  return { format: 'contract-1', head, chunks };
}

export function baseAt(head: Head, ...chunks: string[]): Base<string[]> {
  return { format: 'contract-1', head, archive: 'the seal of an archive', chunks };
}

export function texts(name: string): string[] {
  return Array.from({ length: 5 }, (_, index) => `chunk ${index} of ${name}`);
}

export async function load({ place }: Subject, { name }: Stream): Promise<Snapshot | undefined> {
  const stored = await place.snapshots.load(name);
  // It may have other members.
  return stored && { format: stored.format, head: stored.head, chunks: await allOf(stored.chunks) };
}

/** A load whose failure counts once it is awaited. */
export function loadLater(subject: Subject, stream: Stream): Promise<Snapshot | undefined> {
  const loaded = load(subject, stream);
  loaded.catch(() => {});
  return loaded;
}

export async function loadBase({ place }: Subject, { name }: Stream): Promise<Base | undefined> {
  const stored = await place.snapshots.loadBase!(name);
  return stored && wholeBase(stored);
}

export async function wholeBase({ format, head, archive, chunks }: StoredBase): Promise<Base> {
  return { format, head, archive, chunks: await allOf(chunks) };
}

/** Removes the events before `head`, the head of the base. Resolves with their number. */
export async function trimmed({ place }: Subject, { name }: Stream, head: Head): Promise<number> {
  let events = 0;
  for (;;) {
    const count = await place.archive.trim(name, head);
    assert(count !== undefined, 'the head is that of the base, so events are removed');
    if (count === 0) return events;
    events += count;
    assert(events < head.version, `${events} events before version ${head.version} were removed`);
  }
}

async function allOf(chunks: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

/** Saves a snapshot, and calls `meanwhile` after each chunk but the last. */
export async function saveWhile(
  { place }: Subject,
  { name }: Stream,
  snapshot: Snapshot<string[]>,
  meanwhile: () => unknown,
): Promise<boolean> {
  const chunks = function* () {
    for (const [index, chunk] of snapshot.chunks.entries()) {
      if (index > 0) meanwhile();
      yield chunk;
    }
  };
  return place.snapshots.save(name, { ...snapshot, chunks: chunks() });
}

/** Asserts that each load resolves with one of these snapshots, or fails because it was replaced. */
export async function assertOneOf(
  loads: readonly Promise<Snapshot | undefined>[],
  candidates: readonly Snapshot[],
): Promise<void> {
  for (const result of await Promise.allSettled(loads)) {
    if (result.status === 'rejected') {
      const { reason } = result as { reason: unknown };
      assert(reason instanceof StoreUnavailable || reason instanceof BrokenSnapshot, String(reason));
    } else {
      const candidate = candidates.find((each) => isDeepStrictEqual(each, result.value));
      assert.deepEqual(result.value, candidate ?? candidates[0]);
    }
  }
}
