/** The generated clients of docs/http-api.md, against the service. Needs the registry: `npm run test:package`. */
import { expect } from 'chai';
import { blocks } from '../docs/blocks';
import { HttpClient } from '../support/client';
import { TOKENS, type WatchedService, startWatched } from '../support/watched-service';
import { type Workshop, workshopOfTheRun } from './workshop';

const PAGE_URL = 'http://127.0.0.1:3000';
/** The id of the recipes, 9007199254740993, as a JavaScript number. */
const ROUNDED = '9007199254740992';
const TSCONFIG = {
  compilerOptions: { strict: true, module: 'nodenext', target: 'es2023', types: ['node'], outDir: 'dist' },
};

describe('docs/http-api.md', function () {
  this.timeout(300_000);
  let workshop: Workshop;
  let service: WatchedService;
  before(async () => {
    [workshop, service] = await Promise.all([workshopOfTheRun(), startWatched()]);
  });
  after(() => service.stop());

  /** Follows the page in a new project. Resolves with the name of the last file. */
  async function follow(recipe: string): Promise<string> {
    workshop.project(recipe);
    workshop.write(`${recipe}/tsconfig.json`, JSON.stringify(TSCONFIG));
    let last = '';
    for (const { page, kind, text } of blocks()) {
      if (page !== 'docs/http-api.md' || !kind.includes(` ${recipe}`)) continue;
      const [, file] = kind.split('=');
      const ours = text.replaceAll(PAGE_URL, service.url).replace('limit: 100', 'limit: 1');
      if (file === undefined) await workshop.run(recipe, 'sh', '-ec', ours);
      else workshop.write(`${recipe}/${(last = file)}`, ours);
    }
    return last;
  }

  for (const recipe of ['openapi-fetch', 'hey-api']) {
    it(`leads to a client with ${recipe} that is exact to the last digit of an id`, async () => {
      const alice = new HttpClient(service.url, 'alice', TOKENS.alice);
      await alice.plants([ROUNDED, 'Moss']);

      const program = await follow(recipe);
      await workshop.run(recipe, 'npx', 'tsc');
      const run = `TOKEN=${TOKENS.alice} node dist/${program.replace(/ts$/, 'js')}`;

      // With a rounded id the create would fail with 40003, and the deletion would remove the other plant.
      const pages = recipe === 'openapi-fetch' ? 'Moss\nFern\n' : '';
      expect(await workshop.run(recipe, 'sh', '-ec', run)).to.equal(`Fern\n${pages}204\n`);
      expect(await alice.names()).to.deep.equal(['Moss']);
      expect((await alice.delete(ROUNDED)).status).to.equal(204);
    });
  }
});
