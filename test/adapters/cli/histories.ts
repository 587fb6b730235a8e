/** Histories for the tests of the commands about events. */
import { streamName } from '../../../src/testing/a-stream';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { BEGINNING, type Head, type RecordedEvent } from '../../../src/event-sourcing';
import type { PlantEvent } from '../../../src/domain';
import { created, decoded, deleted, encoded } from '../../support/given';

/** Appends each of `commits` as one, with the commit ids `<stream>-1`, `<stream>-2` … */
export async function record(
  store: MemoryEventStore,
  stream: string,
  ...commits: PlantEvent[][]
): Promise<Head> {
  let head = (await historyOf(store, stream)).at(-1) ?? BEGINNING;
  for (const [index, events] of commits.entries()) {
    const commit = `${stream}-${head.version}-${index + 1}`;
    const result = await store.append(streamName(stream), head, commit, encoded(...events));
    if (result.status !== 'appended') throw new Error(result.status);
    head = result.head;
  }
  return { version: head.version, commit: head.commit };
}

export async function historyOf(
  store: MemoryEventStore,
  stream: string,
): Promise<readonly RecordedEvent<PlantEvent>[]> {
  const events: RecordedEvent<PlantEvent>[] = [];
  for (let more = true; more;) {
    const page = await store.read(streamName(stream), events.at(-1) ?? BEGINNING);
    if (page.status !== 'read') throw new Error(page.status);
    events.push(...decoded(page.events));
    more = page.more;
  }
  return events;
}

/** A store of two users with unusual texts, and commits of one, two and three events; pages of two events. */
export async function aStore(): Promise<MemoryEventStore> {
  const store = new MemoryEventStore(2);
  await record(
    store,
    'alice',
    [created(1, 'Fern', 'indoor')],
    [created(2, '\u0000"\ud83c\udf35" \u2028', ''), deleted(1)],
  );
  await record(store, 'auth0|{b}', [created(1, 'Moss'), deleted(1), created(1, 'Moss')]);
  return store;
}
