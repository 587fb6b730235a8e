/** The executable contract of the SnapshotStore port, for any test framework. */
import assert from 'node:assert/strict';
import {
  BEGINNING,
  BrokenSnapshot,
  type Snapshot,
  type SnapshotStore,
  type StreamName,
} from '../event-sourcing';
import { assertOneOf, load, loadLater, saveWhile, snapshotAt, texts, written } from './a-snapshot';
import { Stream, nextCommit } from './a-stream';
import { type Cases, assertClosed } from './case';
import { oddCommits } from './commit-ids';
import { ODD_TEXTS } from './odd-texts';
import type { PortOptions } from './options';
import type { OpenStore } from './place';
import { oddNames } from './reading';
import { type ContractCase, contractCases } from './run-cases';

export interface SnapshotContractOptions extends PortOptions {
  /**
   * Damages the stored snapshot of a stream: changes or removes one of its chunks. Adds a case of it; none without it.
   */
  readonly damage?: (stream: StreamName) => void | Promise<void>;
}

/** The cases. Each opens a store with its snapshots by `open`, and closes it at its end. */
export function snapshotStoreContract(
  open: () => OpenWithSnapshots | Promise<OpenWithSnapshots>,
  { durable = false, shared = false, damage, ...options }: SnapshotContractOptions = {},
): ContractCase[] {
  const groups = [loading, saving, erasing, durable ? reopening : {}, shared ? sharing : {}, closing];
  return contractCases(open, options, { examples: [...groups, damage ? damaging(damage) : {}] });
}

type OpenWithSnapshots = OpenStore & { readonly snapshots: SnapshotStore };

const loading: Cases = {
  'a snapshot is missing until one is saved': async (subject) => {
    const { stream } = await written(subject);
    assert.equal(await load(subject, stream), undefined);
    assert.equal(await load(subject, subject.aStream()), undefined);
  },

  'a snapshot is loaded as it was saved, with any head and any texts': async (subject) => {
    for (const commit of oddCommits()) {
      const stream = subject.aStream();
      await stream.append(BEGINNING, commit, [subject.few[0]]);
      const chunks = [...ODD_TEXTS, '', 'a'.repeat(100_000), 'b'];
      const saved = { format: `f ${commit}`, head: { version: 1, commit }, chunks };
      assert.equal(await subject.place.snapshots.save(stream.name, saved), true);
      assert.deepEqual(await load(subject, stream), saved);
    }
  },

  'a snapshot is that of its stream only, with any name': async (subject) => {
    const streams = oddNames().map((name) => new Stream(subject.store, name));
    const saved: Snapshot[] = [];
    for (const stream of streams) {
      const snapshot = snapshotAt(await stream.add(BEGINNING, subject.few[0]), stream.name);
      assert.equal(await subject.place.snapshots.save(stream.name, snapshot), true);
      saved.push(snapshot);
    }
    for (const [index, stream] of streams.entries())
      assert.deepEqual(await load(subject, stream), saved[index]);
  },

  'a snapshot that is replaced while it is read ends as it began, or as unavailable or broken': async (
    subject,
  ) => {
    const { stream, head } = await written(subject);
    const { snapshots } = subject.place;
    const old = snapshotAt(head, 'a', 'b');
    await snapshots.save(stream.name, old);
    const stored = (await snapshots.load(stream.name))!;
    const read = (async () => {
      const chunks: string[] = [];
      for await (const chunk of stored.chunks) {
        chunks.push(chunk);
        await snapshots.save(stream.name, snapshotAt(head, 'c', 'd'));
      }
      return { ...stored, chunks };
    })();
    await assertOneOf([read], [old]);
  },
};

const saving: Cases = {
  'a saved snapshot replaces the one before it completely': async (subject) => {
    const { stream, head } = await written(subject);
    await subject.place.snapshots.save(stream.name, snapshotAt(head, 'a', 'b', 'c'));
    const newer = snapshotAt(await stream.add(head, subject.few[1]), 'd');
    assert.equal(await subject.place.snapshots.save(stream.name, newer), true);
    assert.deepEqual(await load(subject, stream), newer);
  },

  'a snapshot at a head that the stream does not have is not saved': async (subject) => {
    const { stream, head } = await written(subject);
    const saved = snapshotAt(head, 'a');
    await subject.place.snapshots.save(stream.name, saved);
    for (const unknown of [
      { version: 1, commit: nextCommit() },
      { version: 2, commit: head.commit },
    ]) {
      const snapshot = snapshotAt(unknown, 'b');
      assert.equal(await subject.place.snapshots.save(stream.name, snapshot), false);
      const { name } = subject.aStream();
      assert.equal(await subject.place.snapshots.save(name, snapshot), false);
      assert.equal(await subject.place.snapshots.load(name), undefined);
    }
    assert.deepEqual(await load(subject, stream), saved);
  },

  'a snapshot whose last chunks fail is not saved, and the one before it stays': async (subject) => {
    const { stream, head } = await written(subject);
    const saved = snapshotAt(head, 'a', 'b');
    await subject.place.snapshots.save(stream.name, saved);
    const chunks = function* () {
      yield 'in part';
      throw new RangeError('of the codec');
    };
    await assert.rejects(
      async () => subject.place.snapshots.save(stream.name, { ...saved, chunks: chunks() }),
      RangeError,
    );
    assert.deepEqual(await load(subject, stream), saved);
  },

  'while a snapshot is saved, each load gets it or the one before it, and none a part': async (subject) => {
    const { stream, head } = await written(subject);
    const [old, next] = [snapshotAt(head, ...texts('old')), snapshotAt(head, ...texts('next'))];
    await subject.place.snapshots.save(stream.name, old);
    const loads: Promise<Snapshot | undefined>[] = [];
    const saved = await saveWhile(subject, stream, next, () => void loads.push(loadLater(subject, stream)));
    assert.equal(saved, true);
    await assertOneOf(loads, [old, next]);
    assert.deepEqual(await load(subject, stream), next);
  },

  'of snapshots that are saved at a time one is loaded whole, and it was saved': async (subject) => {
    const { stream, head } = await written(subject);
    const [first, ...others] = ['one', 'two', 'three'].map((name) => snapshotAt(head, ...texts(name)));
    const loads: Promise<Snapshot | undefined>[] = [];
    const saves: Promise<boolean>[] = [];
    const watch = async (save: Promise<boolean>) => {
      const saved = await save;
      if (saved) loads.push(loadLater(subject, stream));
      return saved;
    };
    const saveOther = () => {
      const other = others[saves.length];
      if (other) saves.push(watch(subject.place.snapshots.save(stream.name, other)));
    };
    const saved = [await watch(saveWhile(subject, stream, first!, saveOther)), ...(await Promise.all(saves))];
    assert(saved.includes(true), 'no snapshot was saved');
    const candidates = [first!, ...others].filter((_, index) => saved[index]);
    await assertOneOf(loads, candidates);
    // Nothing replaces this one while it is read.
    await assertOneOf([Promise.resolve(await load(subject, stream))], candidates);
  },
};

const erasing: Cases = {
  'a snapshot is erased with its stream, and is not that of the next one': async (subject) => {
    if (!subject.place.erases) return;
    const { stream, head } = await written(subject);
    await subject.place.snapshots.save(stream.name, snapshotAt(head, 'a'));
    assert.equal(await subject.place.catalogue.erase(stream.name), 1);
    assert.equal(await load(subject, stream), undefined);
    await stream.add(BEGINNING, subject.few[1]);
    assert.equal(await load(subject, stream), undefined);
  },

  'a snapshot that is saved while its stream is erased is not saved': async (subject) => {
    if (!subject.place.erases) return;
    const { stream, head } = await written(subject);
    let erased: Promise<number> | undefined;
    const snapshot = snapshotAt(head, ...texts('late'));
    const erase = () => (erased ??= subject.place.catalogue.erase(stream.name));
    assert.equal(await saveWhile(subject, stream, snapshot, erase), false);
    assert.equal(await erased, 1);
    assert.equal(await load(subject, stream), undefined);
  },
};

const reopening: Cases = {
  'a reopened store has the snapshot of before': async (subject) => {
    const { stream, head } = await written(subject);
    const saved = snapshotAt(head, ...ODD_TEXTS);
    await subject.place.snapshots.save(stream.name, saved);
    await subject.place.reopen();
    assert.deepEqual(await load(subject, stream), saved);
  },
};

const sharing: Cases = {
  'two stores on one place: one loads the snapshot that the other saved last': async (subject) => {
    const { stream, head } = await written(subject);
    const { snapshots } = subject.place;
    await subject.place.open();
    assert.equal(await load(subject, stream), undefined);
    for (const text of ['a', 'b']) {
      await snapshots.save(stream.name, snapshotAt(head, text));
      assert.deepEqual(await load(subject, stream), snapshotAt(head, text));
    }
  },
};

const closing: Cases = {
  'a closed store neither loads nor saves a snapshot: it rejects with StoreUnavailable': async (subject) => {
    const { stream, head } = await written(subject);
    const { snapshots } = subject.place;
    await assertClosed(subject.place, {
      'a load of a snapshot': () => snapshots.load(stream.name),
      'a save of a snapshot': () => snapshots.save(stream.name, snapshotAt(head, 'a')),
    });
  },
};

const damaging = (damage: (stream: StreamName) => void | Promise<void>): Cases => ({
  'a damaged snapshot is broken, and can be replaced': async (subject) => {
    const { stream, head } = await written(subject);
    const saved = snapshotAt(head, 'a', 'b', 'c');
    await subject.place.snapshots.save(stream.name, saved);
    await damage(stream.name);
    await assert.rejects(load(subject, stream), BrokenSnapshot);
    assert.equal(await subject.place.snapshots.save(stream.name, saved), true);
    assert.deepEqual(await load(subject, stream), saved);
  },
});
