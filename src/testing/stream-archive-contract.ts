/**
 * The executable contract of the StreamArchive port, and of `SnapshotStore.loadBase`, for any test framework. What an event
 * store does with an archived stream is checked by its own contract (`loseEvents`).
 */
import assert from 'node:assert/strict';
import { BEGINNING, type Head, type SnapshotStore, type StreamArchive } from '../event-sourcing';
import { baseAt, loadBase, threeCommits, trimmed, wholeBase } from './a-snapshot';
import { type Stream, assertHistory, nextCommit, recorded } from './a-stream';
import { type Cases, type Subject, assertClosed } from './case';
import { ODD_TEXTS } from './odd-texts';
import type { PortOptions } from './options';
import type { OpenStore } from './place';
import { type ContractCase, contractCases } from './run-cases';

/** The cases. Each opens a store with its archive and snapshots by `open`, and closes it at its end. */
export function streamArchiveContract(
  open: () => OpenWithArchive | Promise<OpenWithArchive>,
  { durable = false, shared = false, ...options }: PortOptions = {},
): ContractCase[] {
  const groups = [savingBases, trimming, erasing, durable ? reopening : {}, shared ? sharing : {}, closing];
  return contractCases(open, options, { examples: groups });
}

type OpenWithArchive = OpenStore & {
  readonly archive: StreamArchive;
  readonly snapshots: SnapshotStore & Required<Pick<SnapshotStore, 'loadBase'>>;
};

const approve = async () => {};

const savingBases: Cases = {
  'a base is missing until one is saved, then loaded as it was saved, and no event is removed': async (
    subject,
  ) => {
    const { stream, heads } = await threeCommits(subject);
    const history = await stream.history();
    assert.equal(await loadBase(subject, stream), undefined);
    const base = { ...baseAt(heads[3], ...ODD_TEXTS, ''), archive: ODD_TEXTS.join('') };
    assert.equal(await subject.place.archive.saveBase(stream.name, base, 0, approve), true);
    assert.deepEqual(await loadBase(subject, stream), base);
    assert.equal(await loadBase(subject, subject.aStream()), undefined);
    assertHistory(await stream.history(), history);
  },

  'a new base is checked as it is stored, while the one before it is still current': async (subject) => {
    const { stream, heads } = await threeCommits(subject);
    const [old, next] = [baseAt(heads[1], 'a'), baseAt(heads[3], 'b', 'c')];
    await subject.place.archive.saveBase(stream.name, old, 0, approve);
    const seen: unknown[] = [];
    await subject.place.archive.saveBase(stream.name, next, 1, async (stored) => {
      seen.push(await wholeBase(stored), await loadBase(subject, stream));
    });
    assert.deepEqual(seen, [next, old]);
    assert.deepEqual(await loadBase(subject, stream), next);
  },

  'a base whose check fails is not saved': async (subject) => {
    const { stream, heads } = await threeCommits(subject);
    const refuse = () => Promise.reject(new RangeError('it differs'));
    const saving = async () => subject.place.archive.saveBase(stream.name, baseAt(heads[3], 'a'), 0, refuse);
    await assert.rejects(saving, RangeError);
    assert.equal(await loadBase(subject, stream), undefined);
  },

  'a base is not saved at a head that the stream does not have': async (subject) => {
    const { stream, heads } = await threeCommits(subject);
    for (const [{ name }, head] of [
      [stream, { ...heads[3], commit: nextCommit() }],
      [stream, { ...heads[4], version: 5 }],
      [subject.aStream(), heads[1]],
    ] as const) {
      assert.equal(await subject.place.archive.saveBase(name, baseAt(head, 'a'), 0, approve), false);
      assert.equal(await subject.place.snapshots.loadBase!(name), undefined);
    }
  },

  'a base is not saved if it would replace another one than the caller knows': async (subject) => {
    const { stream, heads } = await threeCommits(subject);
    const save = (head: Head, replaced: number) =>
      subject.place.archive.saveBase(stream.name, baseAt(head, 'a'), replaced, approve);
    assert.equal(await save(heads[1], 3), false);
    assert.equal(await save(heads[1], 0), true);
    for (const replaced of [0, 3]) assert.equal(await save(heads[3], replaced), false);
    assert.deepEqual(await loadBase(subject, stream), baseAt(heads[1], 'a'));
  },

  'of bases that are saved at a time, the one of the later call is saved': async (subject) => {
    const { stream, heads } = await threeCommits(subject);
    const { archive } = subject.place;
    const later = baseAt(heads[1], 'later');
    const saved = await archive.saveBase(stream.name, baseAt(heads[3], 'first'), 0, async () => {
      assert.equal(await archive.saveBase(stream.name, later, 0, approve), true);
    });
    assert.equal(saved, false);
    assert.deepEqual(await loadBase(subject, stream), later);
  },

  'a base is not saved if another call has begun meanwhile, even one that fails': async (subject) => {
    const { stream, heads } = await threeCommits(subject);
    const { archive } = subject.place;
    const refuse = () => Promise.reject(new RangeError('it differs'));
    const saved = await archive.saveBase(stream.name, baseAt(heads[3], 'first'), 0, async () => {
      await assert.rejects(archive.saveBase(stream.name, baseAt(heads[1], 'later'), 0, refuse), RangeError);
    });
    assert.equal(saved, false);
    assert.equal(await loadBase(subject, stream), undefined);
  },
};

const trimming: Cases = {
  'the events before a base are removed and counted, and the event of its head stays': async (subject) => {
    const { stream, heads, events } = await threeCommits(subject);
    await archived(subject, stream, heads[3], 0);
    assert.deepEqual(await stream.read(heads[1]), { status: 'archived' });
    assertHistory(await stream.history(heads[3]), recorded(heads[3], heads[4].commit, [events[3]]));
  },

  'a stream is archived again, up to its last event': async (subject) => {
    const { stream, heads } = await threeCommits(subject);
    await archived(subject, stream, heads[3], 0);
    await archived(subject, stream, heads[4], 3);
    assert.deepEqual(await loadBase(subject, stream), baseAt(heads[4], 'a'));
    assert.deepEqual(await stream.history(heads[4]), []);
    const next = await stream.add(heads[4], subject.few[0]);
    assert.equal(next.version, 5);
  },

  'no event is removed without a base, or before another head than that of the base': async (subject) => {
    const { stream, heads } = await threeCommits(subject);
    const { archive } = subject.place;
    assert.equal(await archive.trim(stream.name, heads[3]), undefined);
    await archive.saveBase(stream.name, baseAt(heads[1], 'a'), 0, approve);
    for (const head of [heads[3], { ...heads[1], commit: heads[3].commit }])
      assert.equal(await archive.trim(stream.name, head), undefined);
    assert.equal((await stream.history()).length, 4);
  },

  'the size of a stream is a positive number, or unknown': async (subject) => {
    const { stream } = await threeCommits(subject);
    const bytes = await subject.place.archive.bytes(stream.name);
    assert(bytes === undefined || bytes > 0, `a stream of four events has ${bytes} bytes`);
  },
};

const erasing: Cases = {
  'a base is erased with its stream, which then starts again': async (subject) => {
    if (!subject.place.erases) return;
    const { stream, heads } = await threeCommits(subject);
    await archived(subject, stream, heads[3], 0);
    await subject.place.catalogue.erase(stream.name);
    assert.equal(await loadBase(subject, stream), undefined);
    assert.deepEqual(await stream.history(), []);
    await stream.add(BEGINNING, subject.few[0]);
    assert.equal((await stream.history()).length, 1);
  },

  'a base of a stream that is erased while it is checked is not saved': async (subject) => {
    if (!subject.place.erases) return;
    const { stream, heads } = await threeCommits(subject);
    const { archive, catalogue } = subject.place;
    const erase = async () => {
      await catalogue.erase(stream.name);
    };
    assert.equal(await archive.saveBase(stream.name, baseAt(heads[3], 'a'), 0, erase), false);
    assert.equal(await loadBase(subject, stream), undefined);
  },
};

const reopening: Cases = {
  'a reopened store has the bases and the trimmed streams of before': async (subject) => {
    const { stream, heads } = await threeCommits(subject);
    await archived(subject, stream, heads[3], 0);
    const store = await subject.place.reopen();
    assert.deepEqual(await loadBase(subject, stream), baseAt(heads[3], 'a'));
    assert.deepEqual(await store.read(stream.name, BEGINNING), { status: 'archived' });
  },
};

const sharing: Cases = {
  'two stores on one place: each has the base of the other, and removes the events before it': async (
    subject,
  ) => {
    const { stream, heads } = await threeCommits(subject);
    const { archive } = subject.place;
    const other = await subject.place.open();
    assert.equal(await archive.saveBase(stream.name, baseAt(heads[3], 'a'), 0, approve), true);
    assert.deepEqual(await loadBase(subject, stream), baseAt(heads[3], 'a'));
    assert.equal(await trimmed(subject, stream, heads[3]), 2);
    for (const store of [subject.store, other])
      assert.deepEqual(await store.read(stream.name, BEGINNING), { status: 'archived' });
  },
};

const closing: Cases = {
  'a closed store archives nothing: each call rejects with StoreUnavailable': async (subject) => {
    const { stream, heads } = await threeCommits(subject);
    const { archive, snapshots } = subject.place;
    await assertClosed(subject.place, {
      'a save of a base': () => archive.saveBase(stream.name, baseAt(heads[3], 'a'), 0, approve),
      'a trim': () => archive.trim(stream.name, heads[3]),
      'the size of a stream': () => archive.bytes(stream.name),
      'a load of a base': () => snapshots.loadBase!(stream.name),
    });
  },
};

/** Archives the stream before `head`. */
async function archived(subject: Subject, stream: Stream, head: Head, replaced: number): Promise<void> {
  const saved = await subject.place.archive.saveBase(stream.name, baseAt(head, 'a'), replaced, approve);
  assert.equal(saved, true);
  const events = await trimmed(subject, stream, head);
  assert.equal(events, head.version - Math.max(1, replaced), 'that many events were removed');
}
