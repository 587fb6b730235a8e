/**
 * What a request does to the plants of its user, as later responses show it: on any store, with any
 * number of instances.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { anyPlant } from '../../../domain/arbitraries';
import { HttpClient, nextPage } from '../../../support/client';
import type { WatchedService } from '../../../support/watched-service';

/** Names that differ only in case, and in how Unicode composes a letter. */
const LETTERS = ['é', 'É', 'e\u0301', 'E\u0301'];
const PAIRS = LETTERS.flatMap((one) => LETTERS.map((other) => one + other));
const NAMES = PAIRS.flatMap((one) => PAIRS.map((other) => one + other));
const AUTH_TOKENS = NAMES.map((name, user) => `${name}:token-${user}`).join();

/** One or more instances on one store, started once for the suite in whose body this is called. */
export function tested(
  start: (environment: Readonly<Record<string, string>>) => Promise<readonly WatchedService[]>,
) {
  let services: readonly WatchedService[] = [];
  let users = 0;
  before(async () => void (services = await start({ AUTH_TOKENS })));
  after(() => Promise.all(services.map((service) => service.stop())));
  const urls = () => services.map(({ url }) => url);
  /** A user that no other test has. */
  const user = () => new HttpClient(urls(), '', `token-${users++}`);
  return { urls, user };
}

export function behaviour(service: ReturnType<typeof tested>): void {
  describe('A created plant', () => {
    for (const [sent, returned] of [
      ['{"tag":"indoor","id":1,"name":"Fern"}', '{"name":"Fern","tag":"indoor"}'],
      ['{"id":1,"name":"Fern","tag":""}', '{"name":"Fern","tag":""}'],
      ['{"\\u0069d":1,"n\\u0061me":"\\u0046ern","x":"\\ud83c"}', '{"name":"Fern"}'],
      [
        '{"id":1,"name":"Fern","__proto__":{"tag":"x"},"constructor":{"tag":"y"}}',
        '{"name":"Fern"}',
      ],
      ['\ufeff{"id":1,"name":"Fern"}', '{"name":"Fern"}'],
    ] as const)
      it(`is returned and listed with name and tag only, never with its id: ${sent}`, async () => {
        const user = service.user();
        expect(await user.post(sent)).to.include({ status: 200, text: returned });
        expect((await user.list()).text).to.equal(`[${returned}]`);
        expect({}).not.to.have.property('tag');
      });

    it('keeps its id, name and tag exactly', async () => {
      const user = service.user();
      const pair = fc.tuple(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), anyPlant);
      const plants = fc.uniqueArray(pair, { selector: ([id]) => id, maxLength: 8 });
      const check = async (created: readonly (readonly [bigint, object])[]) => {
        for (const [id, plant] of created) {
          const members = JSON.stringify(plant);
          expect((await user.post(`{"id":${id},${members.slice(1)}`)).text).to.equal(members);
        }
        expect((await user.list()).text).to.equal(
          JSON.stringify(created.map(([, plant]) => plant)),
        );
        for (const [id] of created) expect((await user.delete(id)).status).to.equal(204);
      };
      await fc.assert(fc.asyncProperty(plants, check), { numRuns: 20 });
    });

    for (const [literal, id] of [
      ['7.0', '7'],
      ['-0', '0'],
      ['9007199254740993', '9007199254740993'],
    ] as const)
      it(`with the JSON number ${literal} as its id has the unique id ${id}, and is deleted once`, async () => {
        const user = service.user();
        await user.plants([literal, 'Fern'], ['9007199254740992', 'Moss']);
        expect(await user.create(id, 'Palm')).to.include({ status: 400, error: 40003 });
        expect(await user.names()).to.deep.equal(['Fern', 'Moss']);
        expect(await user.delete(id)).to.include({ status: 204, text: '' });
        expect(await user.delete(id)).to.include({ status: 404, error: 40401 });
        expect(await user.names()).to.deep.equal(['Moss']);
      });

    it('belongs to its user: others neither list nor delete it, and may use the same id', async () => {
      const [user, other] = [service.user(), service.user()];
      await user.plants([1, 'Fern'], [2, 'Palm']);
      await other.plants([1, 'Moss']);
      expect(await other.delete(2)).to.include({ status: 404, error: 40401 });
      expect(await user.names()).to.deep.equal(['Fern', 'Palm']);
      expect(await other.names()).to.deep.equal(['Moss']);
    });
  });

  describe('A list', () => {
    it('has a new ETag after each change, even one that restores it, and is answered 304 until then', async () => {
      const user = service.user();
      const etags = new Set<string>();
      for (let changes = 0; changes < 5; changes++) {
        if (changes > 0) await (changes % 2 === 1 ? user.plants([1, 'Fern']) : user.delete(1));
        const etag = (await user.list()).headers.etag!;
        expect(await user.get('/plants', { 'If-None-Match': etag })).to.include({
          status: 304,
          text: '',
        });
        etags.add(etag);
      }
      expect(etags).to.have.property('size', 5);
    });

    it('shows each plant exactly once in a walk through its pages, while others are created and deleted', async () => {
      const user = service.user();
      // From here on, the position of a plant is not its number in the list.
      await user.plants([0, 'gone']);
      await user.delete(0);
      const before = ['stays 1', 'goes', 'stays 2', 'moves', 'stays 3', 'stays 4'];
      await user.plants(...before.map((name, index) => [index + 1, name] as const));
      for (const query of ['', '?limit=6', '?limit=7', '?limit=0'])
        expect((await user.get(`/plants${query}`)).headers, query).not.to.have.property('link');

      const first = await user.get('/plants?limit=3');
      // Plant 3 is the one at the cursor.
      for (const id of [2, 3]) await user.delete(id);
      await user.plants([3, 'stays 2, anew'], [7, 'comes']);
      const second = await user.get(nextPage(first)!);
      await user.delete(4);
      await user.plants([4, 'moved']);
      const last = await user.get(nextPage(second)!);
      expect([first.names, second.names, last.names]).to.deep.equal([
        ['stays 1', 'goes', 'stays 2'],
        ['moves', 'stays 3', 'stays 4'],
        ['stays 2, anew', 'comes', 'moved'],
      ]);
      expect(last.headers).not.to.have.property('link');
    });
  });
}
