/** The executable contract of the StreamCatalogue port. */
import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import {
  BEGINNING,
  type CataloguedStream,
  type EventStore,
  type StreamCatalogue,
} from '../../src/event-sourcing';
import { decoded, encoded, created, ferns } from '../support/given';
import { Stream, streamName } from '../../src/testing/a-stream';

export interface CatalogueCandidate {
  readonly name: string;
  /** Called once. Both are of one store without other writers. */
  open(): Promise<{
    readonly store: EventStore;
    readonly catalogue: StreamCatalogue;
    close(): Promise<void>;
  }>;
}

const [fern, moss] = [created(1, 'Fern', 'indoor'), created(2, 'Moss')];

export function streamCatalogueContract({ name, open }: CatalogueCandidate): void {
  describe(`${name} satisfies the contract of a stream catalogue`, () => {
    let opened: Awaited<ReturnType<typeof open>>;
    before(async () => void (opened = await open()));
    after(() => opened.close());

    const aStream = (suffix = '') =>
      new Stream(opened.store, streamName(`catalogue ${randomUUID()}${suffix}`));

    async function found(): Promise<CataloguedStream[]> {
      const all = [];
      for await (const one of opened.catalogue.streams()) {
        if ('foreign' in one) expect.fail(one.foreign);
        all.push(one);
      }
      return all;
    }

    it('lists every stream once, with any name, with its last version', async () => {
      const streams = ['', ' {a}', '%7B', ':events', '🌵', '\0\n', '*?[a]'].map((suffix) => aStream(suffix));
      for (const [index, stream] of streams.entries())
        await stream.grow(BEGINNING, encoded(...ferns(index + 1)));
      const names = streams.map(({ name }) => name);
      const ours = (await found()).filter(({ stream }) => names.includes(stream));
      expect(ours).to.have.deep.members(
        streams.map((stream, index) => ({ stream: stream.name, version: index + 1 })),
      );
    });

    it('lists more streams than fit into a page', async () => {
      const prefix = randomUUID();
      const names = Array.from({ length: 2500 }, (_, index) => `${prefix} ${index}`);
      await Promise.all(
        names.map((name) => new Stream(opened.store, streamName(name)).add(BEGINNING, ...encoded(fern))),
      );
      const ours = (await found()).map(({ stream }) => stream).filter((name) => name.startsWith(prefix));
      expect(ours).to.have.members(names);
    });

    it('does not list a stream that was only read', async () => {
      const stream = aStream();
      await stream.read(BEGINNING);
      expect(await opened.catalogue.find(stream.name)).to.equal(undefined);
      expect((await found()).map(({ stream }) => stream)).not.to.include(stream.name);
    });

    it('finds a single stream with its last version', async () => {
      const stream = aStream();
      const head = await stream.add(BEGINNING, ...encoded(fern, moss));
      expect(await opened.catalogue.find(stream.name)).to.deep.equal({ stream: stream.name, version: 2 });
      await stream.add(head, ...encoded(created(3, 'Aloe')));
      expect(await opened.catalogue.find(stream.name)).to.include({ version: 3 });
    });

    describe('erasing', () => {
      it('removes all events of the stream, and returns their number', async () => {
        const stream = aStream();
        await stream.grow(BEGINNING, encoded(...ferns(3)));
        expect(await opened.catalogue.erase(stream.name)).to.equal(3);
        expect(await stream.history()).to.deep.equal([]);
        expect(await opened.catalogue.find(stream.name)).to.equal(undefined);
        expect((await found()).map(({ stream }) => stream)).not.to.include(stream.name);
      });

      it('removes nothing of any other stream', async () => {
        const [one, other] = [aStream(), aStream()];
        await one.add(BEGINNING, ...encoded(fern));
        await other.add(BEGINNING, ...encoded(moss));
        await opened.catalogue.erase(one.name);
        expect(decoded(await other.history()).map(({ event }) => event)).to.deep.equal([moss]);
      });

      it('returns 0 for a stream that does not exist', async () => {
        expect(await opened.catalogue.erase(aStream().name)).to.equal(0);
      });

      it('makes reads and appends at an earlier head result in a reset', async () => {
        const stream = aStream();
        const head = await stream.add(BEGINNING, ...encoded(fern));
        await opened.catalogue.erase(stream.name);
        expect(await stream.read(head)).to.deep.equal({ status: 'reset' });
        expect(await stream.append(head, 'late', encoded(moss))).to.deep.equal({ status: 'reset' });
        expect(await stream.history()).to.deep.equal([]);
      });

      it('makes them result in a reset even if another history has reached that version', async () => {
        const stream = aStream();
        const head = await stream.add(BEGINNING, ...encoded(fern));
        await opened.catalogue.erase(stream.name);
        await stream.add(BEGINNING, ...encoded(moss));
        expect(await stream.read(head)).to.deep.equal({ status: 'reset' });
        expect(await stream.append(head, 'late', encoded(created(3, 'Aloe')))).to.deep.equal({
          status: 'reset',
        });
      });

      it('lets the stream start again at version 1', async () => {
        const stream = aStream();
        await stream.grow(BEGINNING, encoded(...ferns(5)));
        await opened.catalogue.erase(stream.name);
        expect(await stream.add(BEGINNING, ...encoded(fern))).to.include({ version: 1 });
        expect((await stream.history()).map(({ version }) => version)).to.deep.equal([1]);
      });
    });
  });
}
