import { expect } from 'chai';
import type { Subject } from './http-contract';

export function listing(service: Subject): void {
  describe('GET /plants', () => {
    it('answers 200 with an empty array when there are no plants', async () => {
      const { status, headers, text } = await service.user().get('/plants');
      expect(status).to.equal(200);
      expect(headers['content-type']).to.equal('application/json');
      expect(text).to.equal('[]');
    });

    it('shows name and tag in order of creation, and never an id', async () => {
      const user = service.user();
      await user.post('{"id":3,"name":"Fern","tag":"indoor"}');
      await user.post('{"id":1,"name":"Moss"}');
      expect((await user.get('/plants')).text).to.equal('[{"name":"Fern","tag":"indoor"},{"name":"Moss"}]');
    });

    it('puts a plant that was created again last', async () => {
      const user = service.user();
      await user.plants([1, 'Fern'], [2, 'Moss']);
      await user.delete(1);
      await user.plants([1, 'Fern again']);
      expect(await user.names()).to.deep.equal(['Moss', 'Fern again']);
    });

    it('answers HEAD as GET, without the body', async () => {
      const user = service.user();
      await user.plants([1, 'Fern']);
      const get = await user.get('/plants');
      const head = await user.send({ method: 'HEAD', path: '/plants' });
      expect(head.status).to.equal(200);
      expect(head.text).to.equal('');
      for (const name of ['content-type', 'content-length', 'etag', 'cache-control']) {
        expect(head.headers[name], name).to.equal(get.headers[name]).and.not.equal(undefined);
      }
    });

    describe('with a limit', () => {
      for (const [limit, names] of [
        ['0', []],
        ['1', ['Fern']],
        ['2', ['Fern', 'Moss']],
        ['3', ['Fern', 'Moss', 'Palm']],
        ['4', ['Fern', 'Moss', 'Palm']],
        ['002', ['Fern', 'Moss']],
        ['%32', ['Fern', 'Moss']],
        ['1' + '0'.repeat(40), ['Fern', 'Moss', 'Palm']],
      ] as const) {
        it(`of ${limit} lists ${names.length} of 3 plants`, async () => {
          const user = service.user();
          await user.plants([1, 'Fern'], [2, 'Moss'], [3, 'Palm']);
          expect(await user.names(`/plants?limit=${limit}`)).to.deep.equal(names);
        });
      }

      for (const query of ['limit=', 'limit=%zz', 'limit=1&limit=1', 'limit[]=1']) {
        it(`answers 400/40004 to ?${query}`, async () => {
          const { status, error, message } = await service.user().get(`/plants?${query}`);
          expect({ status, error }).to.deep.equal({ status: 400, error: 40004 });
          expect(message).to.contain('limit');
        });
      }
    });

    describe('with If-None-Match', () => {
      it('answers 304 without a body while nothing changes', async () => {
        const user = service.user();
        await user.plants([1, 'Fern']);
        const { headers } = await user.get('/plants');
        const etag = headers.etag!;
        expect(etag).to.match(/^"[^"]+"$/);
        for (const condition of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
          const again = await user.get('/plants', { 'If-None-Match': condition });
          expect(again.status, condition).to.equal(304);
          expect(again.text).to.equal('');
          expect(again.headers.etag).to.equal(etag);
        }
        // As `fetch` sends it, which adds Cache-Control by itself.
        expect(
          (await user.get('/plants', { 'If-None-Match': etag, 'Cache-Control': 'no-cache' })).status,
        ).to.equal(304);
      });

      it('answers 200 with a new ETag after each change, also one that restores the list', async () => {
        const user = service.user();
        const etags = new Set<string | undefined>();
        etags.add((await user.get('/plants')).headers.etag);
        for (let round = 0; round < 2; round++) {
          await user.plants([1, 'Fern']);
          etags.add((await user.get('/plants')).headers.etag);
          await user.delete(1);
          etags.add((await user.get('/plants')).headers.etag);
        }
        expect(etags).to.have.property('size', 5);
        const { status } = await user.get('/plants', { 'If-None-Match': '"other", "and another"' });
        expect(status).to.equal(200);
      });

      it('answers 200 to an entity tag that contains the current one, or a part of it', async () => {
        const user = service.user();
        await user.plants([1, 'Fern']);
        const etag = (await user.get('/plants')).headers.etag!;
        for (const condition of [
          `"0${etag.slice(1)}`,
          `${etag.slice(0, -1)}0"`,
          `"${etag.slice(2)}`,
          `"0${etag}0"`,
        ]) {
          const { status } = await user.get('/plants', { 'If-None-Match': condition });
          expect(status, condition).to.equal(200);
        }
      });

      it('allows only a private cache, which has to revalidate each time', async () => {
        const { headers } = await service.user().get('/plants');
        expect(headers['cache-control']).to.equal('private, no-cache');
        expect(headers.vary).to.equal('Authorization');
      });
    });
  });
}
