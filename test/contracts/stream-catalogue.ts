/** The contract of the StreamCatalogue port, executable, as event-store.ts is for the EventStore. */
import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import {
  BEGINNING,
  type CataloguedStream,
  type EventStore,
  type StreamCatalogue,
  type User,
  parseUser,
} from '../../src/application';
import { created } from '../support/given';
import { Stream, fern, moss } from '../../src/testing/a-stream';

export interface CatalogueCandidate {
  readonly name: string;
  /** Called once. The two are of one store, which nobody else writes to. */
  open(): Promise<{
    readonly store: EventStore;
    readonly catalogue: StreamCatalogue;
    close(): Promise<void>;
  }>;
}

export function streamCatalogueContract({ name, open }: CatalogueCandidate): void {
  describe(`${name} keeps the contract of a stream catalogue`, () => {
    let opened: Awaited<ReturnType<typeof open>>;
    before(async () => void (opened = await open()));
    after(() => opened.close());

    const aStream = (suffix = '') => new Stream(opened.store, `catalogue ${randomUUID()}${suffix}`);
    const user = ({ name }: Stream): User => parseUser(name)!;

    async function found(): Promise<CataloguedStream[]> {
      const all = [];
      for await (const one of opened.catalogue.streams()) {
        if ('foreign' in one) expect.fail(one.foreign);
        all.push(one);
      }
      return all;
    }

    it('finds every stream once, whatever it is called, with its last version', async () => {
      const streams = ['', ' {a}', '%7B', ':events', '🌵', '\0\n', '*?[a]'].map((suffix) => aStream(suffix));
      for (const [index, stream] of streams.entries()) await stream.grow(BEGINNING, index + 1);
      const names = streams.map(({ name }) => name);
      const ours = (await found()).filter(({ stream }) => names.includes(stream));
      expect(ours).to.have.deep.members(
        streams.map((stream, index) => ({ stream: user(stream), version: index + 1 })),
      );
    });

    it('finds more streams than any page can hold', async () => {
      const prefix = randomUUID();
      const names = Array.from({ length: 2500 }, (_, index) => `${prefix} ${index}`);
      await Promise.all(names.map((name) => new Stream(opened.store, name).add(BEGINNING, fern)));
      const ours = (await found()).map(({ stream }) => stream).filter((name) => name.startsWith(prefix));
      expect(ours).to.have.members(names);
    });

    it('does not find one that was only read', async () => {
      const stream = aStream();
      await stream.read(BEGINNING);
      expect(await opened.catalogue.find(user(stream))).to.equal(undefined);
      expect((await found()).map(({ stream }) => stream)).not.to.include(stream.name);
    });

    it('finds a single one, as it is now', async () => {
      const stream = aStream();
      const head = await stream.add(BEGINNING, fern, moss);
      expect(await opened.catalogue.find(user(stream))).to.deep.equal({ stream: user(stream), version: 2 });
      await stream.add(head, created(3, 'Aloe'));
      expect(await opened.catalogue.find(user(stream))).to.include({ version: 3 });
    });

    describe('erasing', () => {
      it('removes all events of the stream, and tells how many', async () => {
        const stream = aStream();
        await stream.grow(BEGINNING, 3);
        expect(await opened.catalogue.erase(user(stream))).to.equal(3);
        expect(await stream.history()).to.deep.equal([]);
        expect(await opened.catalogue.find(user(stream))).to.equal(undefined);
        expect((await found()).map(({ stream }) => stream)).not.to.include(stream.name);
      });

      it('removes nothing of any other stream', async () => {
        const [one, other] = [aStream(), aStream()];
        await one.add(BEGINNING, fern);
        await other.add(BEGINNING, moss);
        await opened.catalogue.erase(user(one));
        expect((await other.history()).map(({ event }) => event)).to.deep.equal([moss]);
      });

      it('what is not there erases nothing', async () => {
        expect(await opened.catalogue.erase(user(aStream()))).to.equal(0);
      });

      it('tells whoever knew the history that it is not the history any more', async () => {
        const stream = aStream();
        const head = await stream.add(BEGINNING, fern);
        await opened.catalogue.erase(user(stream));
        expect(await stream.read(head)).to.deep.equal({ status: 'reset' });
        expect(await stream.append(head, 'late', [moss])).to.deep.equal({ status: 'reset' });
        expect(await stream.history()).to.deep.equal([]);
      });

      it('tells him so also where another history has reached his version since', async () => {
        const stream = aStream();
        const head = await stream.add(BEGINNING, fern);
        await opened.catalogue.erase(user(stream));
        await stream.add(BEGINNING, moss);
        expect(await stream.read(head)).to.deep.equal({ status: 'reset' });
        expect(await stream.append(head, 'late', [created(3, 'Aloe')])).to.deep.equal({ status: 'reset' });
      });

      it('leaves a stream that begins anew, at version 1', async () => {
        const stream = aStream();
        await stream.grow(BEGINNING, 5);
        await opened.catalogue.erase(user(stream));
        expect(await stream.add(BEGINNING, fern)).to.include({ version: 1 });
        expect((await stream.history()).map(({ version }) => version)).to.deep.equal([1]);
      });
    });
  });
}
