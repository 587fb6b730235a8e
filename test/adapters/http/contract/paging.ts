import { expect } from 'chai';
import { nextPage } from '../../../support/client';
import type { Subject } from './http-contract';

export function paging(service: Subject): void {
  describe('GET /plants, page by page,', () => {
    it('links through all plants, each once and in order', async () => {
      const user = service.user();
      const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
      await user.plants(...names.map((name, id) => [id, name] as const));
      const met: string[] = [];
      for (let path: string | undefined = '/plants?limit=3'; path; path = nextPage(await user.get(path))) {
        met.push(...(await user.names(path)));
      }
      expect(met).to.deep.equal(names);
    });

    it('has no link when limit did not cut the list, nor for a limit of 0', async () => {
      const user = service.user();
      await user.plants([1, 'Fern'], [2, 'Moss']);
      for (const path of ['/plants', '/plants?limit=2', '/plants?limit=9', '/plants?limit=0']) {
        expect((await user.get(path)).headers, path).not.to.have.property('link');
      }
      expect(nextPage(await user.get('/plants?limit=1'))).to.match(/^\/plants\?limit=1&cursor=/);
    });

    it('shows each plant that exists throughout exactly once, while others are created and deleted', async () => {
      const user = service.user();
      // From here on, the position of a plant is not its number in the list.
      await user.plants([0, 'gone']);
      await user.delete(0);
      await user.plants(
        [1, 'stays 1'],
        [2, 'goes'],
        [3, 'stays 2'],
        [4, 'moves'],
        [5, 'stays 3'],
        [6, 'stays 4'],
      );

      const first = await user.get('/plants?limit=3');
      await user.delete(2);
      await user.delete(3);
      await user.plants([3, 'stays 2, anew'], [7, 'comes']);
      const second = await user.get(nextPage(first)!);
      await user.delete(4);
      await user.plants([4, 'moved']);
      const third = await user.get(nextPage(second)!);

      const walk = [first, second, third].map(({ text }) =>
        (JSON.parse(text) as { name: string }[]).map(({ name }) => name),
      );
      expect(walk).to.deep.equal([
        ['stays 1', 'goes', 'stays 2'],
        ['moves', 'stays 3', 'stays 4'],
        ['stays 2, anew', 'comes', 'moved'],
      ]);
    });

    it('continues when the plant at the cursor was deleted', async () => {
      const user = service.user();
      await user.plants([1, 'a'], [2, 'b'], [3, 'c']);
      const first = await user.get('/plants?limit=2');
      await user.delete(2);
      expect(await user.names(nextPage(first))).to.deep.equal(['c']);
    });

    it('accepts a cursor without a limit', async () => {
      const user = service.user();
      await user.plants([1, 'a'], [2, 'b'], [3, 'c']);
      const cursor = /cursor=([\w-]+)/.exec(nextPage(await user.get('/plants?limit=1'))!)![1]!;
      expect(await user.names(`/plants?cursor=${cursor}`)).to.deep.equal(['b', 'c']);
    });

    for (const query of ['cursor=1', 'cursor=djEuMQ&cursor=djEuMQ']) {
      it(`answers 400/40004 to ?${query}`, async () => {
        const { status, error, message } = await service.user().get(`/plants?${query}`);
        expect({ status, error }).to.deep.equal({ status: 400, error: 40004 });
        expect(message).to.contain('cursor');
      });
    }
  });
}
