/** The examples and the programs of the pages, with the packed library. `npm run test:package` */
import { expect } from 'chai';
import { cpSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Block, blocks, commandsOf, placeOf } from '../docs/blocks';
import { describeOwnRedis } from '../support/redis';
import { type Workshop, workshopOfTheRun } from './workshop';

/** Each example is a separate project. */
const EXAMPLES = readdirSync('docs/examples');
const DEVELOPMENT = ['@types/mocha@10', 'mocha@11', 'vitest@4'];

describe('With the packed library', function () {
  this.timeout(300_000);
  let workshop: Workshop;
  before(async () => {
    workshop = await workshopOfTheRun();
  });

  for (const name of EXAMPLES) {
    it(`compiles and tests docs/examples/${name}, as its README says`, async () => {
      const example = join('docs/examples', name);
      cpSync(example, join(workshop.directory, name), { recursive: true });
      const commands =
        oldestNodeOf(example) + commandsOf(join(example, 'README.md')).replaceAll('path/to/', '../');
      const report = await workshop.run(name, 'sh', '-ec', commands);
      expect(Number(/^# pass (\d+)$/m.exec(report)?.[1])).to.be.above(5);
      expect(report)
        .to.match(/^# fail 0$/m)
        .and.match(/^# skipped 0$/m);
    });
  }

  describe('in an empty folder, with docs/write-a-domain.md', () => {
    before(() => workshop.folder('domain'));

    it('builds and runs a domain, step by step', async () => {
      let printed = '';
      for (const { kind, text } of blocksOf('docs/write-a-domain.md')) {
        if (kind === 'sh package') printed = await workshop.run('domain', 'sh', '-ec', text);
        else if (kind === 'sh package redis') break;
        else if (kind === 'text output') expect(printed).to.contain(text);
        else if (kind.includes(' file=')) workshop.append(join('domain', basename(kind)), text);
      }
      expect(printed).to.match(/^# fail 0$/m);
    });

    it('ends with the files of docs/examples/orders', () => {
      for (const file of readdirSync('docs/examples/orders').filter((name) =>
        /[.]ts$|^tsconfig/.test(name),
      )) {
        expect(readFileSync(join(workshop.directory, 'domain', file), 'utf8'), file).to.equal(
          readFileSync(join('docs/examples/orders', file), 'utf8'),
        );
      }
    });

    describeOwnRedis('and on Redis', (startRedis) => {
      it('prints the same', async function () {
        this.timeout(60_000);
        const { url } = await startRedis('--appendonly', 'no');
        const page = blocksOf('docs/write-a-domain.md');
        const step = page.findIndex(({ kind }) => kind === 'sh package redis');
        const commands = page[step]!.text.replaceAll('redis://127.0.0.1:6379', url);
        const printed = await workshop.run('domain', 'sh', '-ec', commands);
        expect(printed).to.match(/^# fail 0$/m);
        expect(printed).to.contain(page.slice(step).find(({ kind }) => kind === 'text output')!.text);
        expect(printed).to.contain('{"article":"pen","quantity":3,"price":10}');
      });
    });
  });

  describe('in another project', () => {
    before(async () => {
      workshop.project('project');
      await workshop.run('project', 'sh', '-ec', commandsOf('docs/write-a-store.md'));
      await workshop.run('project', 'npm', 'install', '--save-dev', ...DEVELOPMENT);
      await workshop.run('project', 'sh', '-ec', commandsOf('docs/write-a-transport.md', 'sh package http'));
    });

    describe('the pages', () => {
      const programs = blocks().filter(({ kind }) => /^ts(?: mocha| vitest)?$/.test(kind));
      const nameOf = (block: (typeof programs)[number]) =>
        `block-${programs.indexOf(block)}${block.kind === 'ts vitest' ? '.test' : ''}`;

      before(async () => {
        for (const block of programs) workshop.write(`project/pages/${nameOf(block)}.mts`, block.text);
        const compilerOptions = {
          target: 'es2023',
          lib: ['es2023', 'esnext.string'],
          module: 'nodenext',
          strict: true,
          // vitest's own types do not pass this check.
          skipLibCheck: true,
          types: ['node'],
        };
        workshop.write('project/pages/tsconfig.json', JSON.stringify({ compilerOptions }));
      });

      it('compile', () => workshop.run('project/pages', 'npx', 'tsc'));

      for (const block of programs) {
        it(`run: ${placeOf(block)}`, async () => {
          const file = `${nameOf(block)}.mjs`;
          switch (block.kind) {
            case 'ts mocha':
              expect(await workshop.run('project/pages', 'npx', 'mocha', file)).to.match(/\b[23]\d passing/);
              break;
            case 'ts vitest':
              expect(
                await workshop.run('project/pages', 'npx', 'vitest', 'run', '--no-color', file),
              ).to.match(/Tests +[23]\d passed/);
              break;
            default:
              await workshop.run('project/pages', 'node', file);
          }
        });
      }
    });
  });
});

function blocksOf(page: string): Block[] {
  return blocks().filter((block) => block.page === page);
}

/** A command that puts the oldest Node of an example on the PATH, from npm; none if the example names no Node. */
function oldestNodeOf(example: string): string {
  const manifest = JSON.parse(readFileSync(join(example, 'package.json'), 'utf8')) as {
    engines?: { node: string };
  };
  const version = /[\d.]+/.exec(manifest.engines?.node ?? '')?.[0];
  if (version === undefined) return '';
  return `PATH="$(dirname "$(npx --yes --package node@${version} node --print process.execPath)"):$PATH"\n`;
}
