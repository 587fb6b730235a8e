/** What a request does to the plants of its user, as later responses show it. */
import { expect } from 'chai';
import fc from 'fast-check';
import { anyPlant } from '../../../domain/arbitraries';
import { nextPage } from '../../../support/client';
import type { TestedService } from './contract';

export function behaviour(service: TestedService): void {
  describe('A created plant', () => {
    for (const [sent, returned] of [
      ['{"tag":"indoor","id":1,"name":"Fern"}', '{"name":"Fern","tag":"indoor"}'],
      ['{"id":1,"name":"Fern"}', '{"name":"Fern"}'],
      ['{"id":1,"name":"Fern","tag":""}', '{"name":"Fern","tag":""}'],
      ['{"\\u0069d":1,"n\\u0061me":"\\u0046ern","x":"\\ud83c"}', '{"name":"Fern"}'],
      ['{"id":1,"name":"Fern","__proto__":{"tag":"x"},"constructor":{"tag":"y"}}', '{"name":"Fern"}'],
      ['\ufeff{"id":1,"name":"Fern"}', '{"name":"Fern"}'],
    ] as const)
      it(`is answered and listed as name and tag, never with its id: ${sent}`, async () => {
        const user = service.user();
        expect(await user.post(sent)).to.include({ status: 200, text: returned });
        expect((await user.list()).text).to.equal(`[${returned}]`);
        expect({}).not.to.have.property('tag');
      });

    it('keeps id and members exactly, character for character', async () => {
      const user = service.user();
      const plants = fc.uniqueArray(fc.tuple(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), anyPlant), {
        selector: ([id]) => id,
        maxLength: 8,
      });
      await fc.assert(
        fc.asyncProperty(plants, async (created) => {
          for (const [id, plant] of created) {
            const members = JSON.stringify(plant);
            expect((await user.post(`{"id":${id},${members.slice(1)}`)).text).to.equal(members);
          }
          const expected = created.map(([, plant]) => plant);
          expect((await user.list()).text).to.equal(JSON.stringify(expected));
          for (const [id] of created) expect((await user.delete(id)).status).to.equal(204);
        }),
        { numRuns: 20 },
      );
    });

    for (const [literal, id] of [
      ['7.0', '7'],
      ['-0', '0'],
      ['9223372036854775807', '9223372036854775807'],
      ['-9223372036854775808', '-9223372036854775808'],
      ['9007199254740993', '9007199254740993'],
    ] as const)
      it(`has the id ${id} of the JSON number ${literal}, which no second one gets`, async () => {
        const user = service.user();
        await user.plants([literal, 'Fern'], ['9007199254740992', 'Moss']);
        expect(await user.create(id, 'Palm')).to.include({ status: 400, error: 40003 });
        expect(await user.names()).to.deep.equal(['Fern', 'Moss']);
        expect(await user.delete(id)).to.include({ status: 204, text: '' });
        expect(await user.names()).to.deep.equal(['Moss']);
      });

    it('is last if its id was deleted before', async () => {
      const user = service.user();
      await user.plants([1, 'Fern'], [2, 'Moss']);
      await user.delete(1);
      await user.plants([1, 'Fern again']);
      expect(await user.names()).to.deep.equal(['Moss', 'Fern again']);
    });

    it('belongs to its user: no other one lists or deletes it, or finds its id taken', async () => {
      const [user, other] = [service.user(), service.user()];
      await user.plants([1, 'Fern'], [2, 'Palm']);
      await other.plants([1, 'Moss']);
      expect(await other.delete(2)).to.include({ status: 404, error: 40401 });
      expect(await user.names()).to.deep.equal(['Fern', 'Palm']);
      expect(await other.names()).to.deep.equal(['Moss']);
    });

    it('is the same with each token of its user', async () => {
      const [one, two] = service.twin();
      await one.plants([1, 'Fern']);
      expect(await two.names()).to.deep.equal(['Fern']);
      expect((await two.create(1, 'Moss')).error).to.equal(40003);
      expect((await two.delete(1)).status).to.equal(204);
      expect(await one.names()).to.deep.equal([]);
    });

    it('cannot be deleted twice', async () => {
      const user = service.user();
      await user.plants([1, 'Fern']);
      const statuses = [await user.delete(1), await user.delete(1)].map(
        ({ status, error }) => error ?? status,
      );
      expect(statuses).to.deep.equal([204, 40401]);
    });
  });

  describe('A list', () => {
    it('has a new strong ETag after each change, also after one that restores it, and 304 until then', async () => {
      const user = service.user();
      const etags = new Set<string>();
      const note = async () => {
        const { etag } = (await user.list()).headers;
        expect(await user.get('/plants', { 'If-None-Match': etag! })).to.include({ status: 304, text: '' });
        etags.add(etag!);
      };
      await note();
      for (let round = 0; round < 2; round++) {
        await user.plants([1, 'Fern']);
        await note();
        await user.delete(1);
        await note();
      }
      expect(etags).to.have.property('size', 5);
    });

    it('is linked page by page, each plant once and in order', async () => {
      const user = service.user();
      const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
      await user.plants(...names.map((name, id) => [id, name] as const));
      const met: string[] = [];
      for (let path: string | undefined = '/plants?limit=3'; path; path = nextPage(await user.get(path)))
        met.push(...(await user.names(path)));
      expect(met).to.deep.equal(names);
      for (const path of ['/plants', '/plants?limit=7', '/plants?limit=9', '/plants?limit=0'])
        expect((await user.get(path)).headers, path).not.to.have.property('link');
    });

    it('shows each plant that lives through a walk exactly once, while others are created and deleted', async () => {
      const user = service.user();
      // From here on, the position of a plant is not its number in the list.
      await user.plants([0, 'gone']);
      await user.delete(0);
      const before = ['stays 1', 'goes', 'stays 2', 'moves', 'stays 3', 'stays 4'];
      await user.plants(...before.map((name, index) => [index + 1, name] as const));

      const first = await user.get('/plants?limit=3');
      // Also the plant at the cursor.
      for (const id of [2, 3]) await user.delete(id);
      await user.plants([3, 'stays 2, anew'], [7, 'comes']);
      const second = await user.get(nextPage(first)!);
      await user.delete(4);
      await user.plants([4, 'moved']);
      const rest = nextPage(second)!.replace('limit=3&', '');

      expect([first.names, second.names, await user.names(rest)]).to.deep.equal([
        ['stays 1', 'goes', 'stays 2'],
        ['moves', 'stays 3', 'stays 4'],
        ['stays 2, anew', 'comes', 'moved'],
      ]);
    });
  });
}
