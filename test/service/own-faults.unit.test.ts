import { expect } from 'chai';
import {
  type Base,
  type OpenEventStore,
  StoreUnavailable,
  type StoredBase,
  type StreamArchive,
} from '../../src/event-sourcing';
import { ownFault, withOwnFaults } from '../../src/service/own-faults';
import { streamName } from '../../src/testing/a-stream';
import { rejection } from '../support/rejection';

type Method = (...args: readonly unknown[]) => unknown;
type Methods = Readonly<Record<string, Method>>;

/** Methods that resolve with their own name and arguments. */
function echoing(...names: readonly string[]): Methods {
  return Object.fromEntries(names.map((name) => [name, (...args) => Promise.resolve([name, ...args])]));
}

const PORTS = {
  store: echoing('read', 'append', 'notify'),
  catalogue: echoing('find', 'erase'),
  snapshots: echoing('save'),
  archive: echoing('trim', 'bytes'),
  feed: echoing('bucketOf', 'read', 'end', 'notify'),
};
const OWN = echoing('mintCommit', 'check', 'status', 'close');

describe('A store with the faults of this package', () => {
  it('passes each call on, and its result back', async () => {
    const opened = withOwnFaults({ ...PORTS, ...OWN } as unknown as OpenEventStore);
    for (const [port, methods] of Object.entries(PORTS))
      for (const name of Object.keys(methods)) {
        const wrapped = (opened as unknown as Record<string, Methods>)[port]!;
        expect(await wrapped[name]!(port), `${port}.${name}`).to.deep.equal([name, port]);
      }
    for (const name of Object.keys(OWN))
      expect(await (opened as unknown as Methods)[name]!(), name).to.deep.equal([name]);
  });

  it('has no part that the store has not', () => {
    const { store, feed, check, close, ...parts } = withOwnFaults({
      store: echoing('read', 'append'),
      feed: echoing('bucketOf', 'read', 'end'),
      ...echoing('check', 'close'),
    } as unknown as OpenEventStore);
    expect(Object.values(parts)).to.deep.equal(Object.values(parts).map(() => undefined));
    expect([store.notify, feed!.notify]).to.deep.equal([undefined, undefined]);
    expect([check, close]).to.not.include(undefined);
  });

  it('has a base checked with its own faults in the chunks', async () => {
    const foreign = Object.assign(new Error('gone'), { name: 'StoreUnavailable' });
    const unreadable: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(foreign) }),
    };
    const stored = { chunks: unreadable } as StoredBase;
    const { archive } = withOwnFaults({
      ...PORTS,
      ...OWN,
      archive: { saveBase: (...[, , , check]: Parameters<StreamArchive['saveBase']>) => check(stored) },
    } as unknown as OpenEventStore);
    let seen: unknown;
    await archive!.saveBase(streamName('alice'), {} as Base, 0, async ({ chunks }) => {
      seen = await rejection(chunks[Symbol.asyncIterator]().next());
    });
    expect(seen).to.be.instanceOf(StoreUnavailable);
  });

  it('keeps what is no error, and takes no reason that it does not know', () => {
    for (const thrown of ['text', null, undefined]) expect(ownFault(thrown)).to.equal(thrown);
    const foreign = (reason: unknown) =>
      ownFault(Object.assign(new Error('gone'), { name: 'StoreUnavailable', reason }));
    expect(foreign('store_refused')).to.have.property('reason', 'store_refused');
    for (const odd of ['invented', undefined]) expect(foreign(odd)).to.have.property('reason', 'store');
  });
});
