/**
 * Scripts with one aggregate that has snapshots, with pages of two events and a snapshot every six. Further steps:
 *
 *     past 9           another instance appends nine events, each of which adds 1
 *     snapshot 7       the store has a snapshot of the first seven; `snapshot 7 torn`: one that cannot be used
 *     saved            the newest one: its version, and its chunks
 *     asked            the calls to the store of snapshots since the step before
 *     stall|go         its calls wait from now on; they continue
 *     away|back        its calls fail from now on; they succeed again
 */
import { BrokenSnapshot } from '../../src/event-sourcing';
import { AWAY, type KeptSnapshot, MemorySnapshots } from '../support/memory-snapshots';
import { counterKind } from './counter';
import { Script, type ScriptOptions, type Suites, describeAll, listed } from './script';

class Snapshots extends MemorySnapshots {
  #stalled = Promise.resolve();
  go = (): void => {};
  /** How many snapshots have been read, or are not read any more. */
  closed = 0;

  stall(): void {
    this.#stalled = new Promise((resolve) => (this.go = resolve));
  }

  protected override async step(): Promise<void> {
    await this.#stalled;
    await super.step();
  }

  override async *read(snapshot: KeptSnapshot): AsyncGenerator<string> {
    try {
      for await (const chunk of super.read(snapshot)) {
        if (chunk === 'broken') throw new BrokenSnapshot('its checksum differs');
        yield chunk;
      }
    } finally {
      this.closed++;
    }
  }
}

/** How a snapshot of the first events is changed so that it cannot be used. */
const CHANGES: Readonly<Record<string, (usable: KeptSnapshot) => Partial<KeptSnapshot>>> = {
  beyond: ({ head }) => ({ head: { ...head, version: 10 } }),
  old: () => ({ format: 'sum-0' }),
  halved: ({ head }) => ({ format: 'halves-1', chunks: [`${head.version / 2}`] }),
  // The chunk after the one that cannot be decoded is read already, and fails.
  torn: ({ chunks }) => ({ chunks: [chunks[0]!, '[', 'broken'] }),
  longer: ({ chunks }) => ({ chunks: ['[', ...chunks, ...chunks] }),
  broken: ({ chunks }) => ({ chunks: [...chunks, 'broken'] }),
};

type Options = ScriptOptions & { readonly every?: number };

function scriptOf({ every = 6, ...options }: Options) {
  const snapshots = new Snapshots();
  const script: Script = new Script(
    { page: 2, ...options, snapshots: { store: snapshots, every } },
    {
      past: ([count]) => script.play(`others ${'+1 '.repeat(Number(count)).trim()}`),
      async snapshot([count, change]) {
        const version = Number(count);
        const { commit } = (await script.store.history('ada'))[version - 1]!;
        const { format, encode } = counterKind.stateCodec!;
        const usable = { format, head: { version, commit }, chunks: [...encode(version)] };
        snapshots.kept.set('ada', { ...usable, ...(change && CHANGES[change]!(usable)) });
      },
      saved() {
        const { head, chunks } = snapshots.kept.get('ada') ?? {};
        return head ? `${head.version}/${chunks!.join('+')}` : 'none';
      },
      asked: () => listed(snapshots.calls.splice(0), ', '),
      stall: () => snapshots.stall(),
      go: () => snapshots.go(),
      closed: () => snapshots.closed,
      away: () => (snapshots.fault = AWAY),
      back: () => (snapshots.fault = undefined),
    },
  );
  return script;
}

const REPLAYED = 'read 0, read 2, read 4, read 6, read 8';
/** The history is replayed, with these reads, and the snapshot of it is saved. */
const replaced = (reads: string) =>
  `load -> 9; sent -> ${reads}; observed -> snapshot ignored, snapshot saved; saved -> 9/4+5`;

const suites: Suites = {
  'An aggregate with snapshots': {
    'loads from the newest one, and reads only the events after it':
      'past 9; snapshot 7; load -> 9; sent -> read 0, read 7; observed -> snapshot restored; asked -> load ada',
    'loads from one of an earlier format that its codec reads, and saves the next one in that of today': `
      past 9; snapshot 8 halved; load -> 9; sent -> read 0, read 8; observed -> snapshot restored; saved -> 8/4
      past 5; load -> 14; saved -> 14/7+7`,
    'does not use one that is behind the first page': `
      every=Infinity; past 9; snapshot 2; load -> 9; sent -> ${REPLAYED}; observed -> none`,
    'detects that the history was lost after it': `
      past 9; snapshot 7; load -> 9; lose-tail 6; observed; load -> 6
      observed -> lost 9, snapshot ignored, snapshot saved; saved -> 6/3+3`,
    'refuses requests if its state does not fit into memory':
      'maxBytes=800; past 9; snapshot 9; load -> StoreUnavailable; sent -> read 0; bytes -> 0',
    'looks for none if the history fits into the first page':
      'past 9; snapshot 9; lose-tail 2; load -> 2; sent -> read 0; asked -> none',
    'looks for none to catch up': 'every=Infinity; past 9; load; asked; past 8; load -> 17; asked -> none',
    'looks for none with an interval of 0': `
      every=0; past 9; snapshot 9; load -> 9; asked -> none`,
    'keeps the pages of a load that failed if one breaks in the load that continues it': `
      every=Infinity; past 9; q: sum; answer; settle; refuse; settle; q -> StoreUnavailable; sent; snapshot 9 torn; load -> 9
      sent -> read 2, read 4, read 6, read 8; observed -> fault StoreUnavailable, snapshot ignored`,
    'drops what it has decoded if the load fails before the history has confirmed its head': `
      every=Infinity; past 9; snapshot 9; q: sum; answer; settle; calls -> read 9/other-writer-9; refuse; settle
      q -> StoreUnavailable; bytes -> 0; away; load -> 9`,
    'replays the history while snapshots cannot be loaded, and saves one when they can': `
      away; past 9; load -> 9; observed -> snapshot failed, snapshot failed; saved -> none
      back; past 6; load -> 15; saved -> 15/7+8`,
  },

  'An aggregate replays the history, and replaces a snapshot': {
    'beyond the end of the history': `past 9; snapshot 7 beyond; ${replaced('read 0, read 10, read 2, read 4, read 6, read 8')}`,
    'of another format': `past 9; snapshot 9 old; ${replaced(REPLAYED)}`,
    'that is torn': `past 9; snapshot 9 torn; ${replaced(REPLAYED)}`,
    'that is torn at its first chunk: it does not read the others': `past 9; snapshot 9 longer; load -> 9; closed -> 1`,
    'that breaks at its last chunk': `past 9; snapshot 9 broken; ${replaced(REPLAYED)}`,
  },

  'A snapshot is saved': {
    'after every so many events, and not before': `
      past 5; load; saved -> none; past 1; load; saved -> 6/3+3; past 5; load; saved -> 6/3+3; past 1; load; saved -> 12/6+6`,
    'after an event for so many bytes of the state, if that is more':
      'every=1; past 4; load; saved -> 4/2+2; past 1; load; saved -> 4/2+2; past 1; load; saved -> 6/3+3; past 1; load; saved -> 6/3+3',
    'in the background: the state of that moment at its head, and it is not evicted meanwhile': `
      page=1000; past 9; stall; load -> 9; idle -> false; a: +1; answer; a -> ok; go; settle; saved -> 10/5+5
      idle -> true; asked -> load ada, save ada at 10`,
    'not if another instance has saved one meanwhile':
      'past 5; load; past 1; snapshot 6; asked; load; asked -> load ada',
    'not if another instance has saved one since this one replaced an unusable one': `
      past 9; snapshot 9 torn; load; saved -> 9/4+5; past 6; snapshot 15; asked; load; asked -> load ada`,
    'not if the history was lost meanwhile, and is being loaded again': `
      past 5; load; past 1; stall; load; lose-tail 1; q: sum; answer; go; settle; saved -> none; asked -> load ada, load ada`,
    'not if the aggregate has started over meanwhile': `
      past 5; load; past 1; stall; load; q: sum; bug; q -> TypeError; go; settle; saved -> none`,
    'not if the store does not answer whether it has a newer one, which ends after twice the deadline of a request': `
      page=1000; past 9; stall; load -> 9; pass 1999; idle -> false; pass 1; idle -> true; observed -> snapshot failed
      go; past 6; load; saved -> 15/7+8`,
    'or has failed after a minute, so that one that never ends does not end the others': `
      past 9; snapshot 9 torn; q: sum; answer; settle; stall; serve; settle; q -> 9; pass 59999; idle -> false; pass 1; idle -> true
      observed -> snapshot ignored, snapshot failed; go; past 6; load; saved -> 15/7+8`,
    'not again until it is due again, if the save failed': `
      past 2; load; past 7; away; load; observed; past 1; load; observed -> none`,
  },
};

describeAll(suites, (script, options: Options) => scriptOf(options).play(script));
