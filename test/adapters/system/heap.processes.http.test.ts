import { expect } from 'chai';
import { compiledMain } from '../../support/compiled';
import { ServiceProcess } from '../../support/service-process';
import { until } from '../../support/until';

/** 80 MB. */
const KEPT = 'globalThis.kept = Array.from({ length: 1e6 }, (_, i) => ({ i, text: `plant ${i}` }))';
/** V8 adds the space of new objects: 8 MB on Node 20, 64 MB on Node 24. */
const NEW_SPACE_KB = 70_000;
const LIMIT = /\[HeapController\] Limit: old size: (\d+) KB, new limit: (\d+) KB/;

/**
 * Creates objects in a function whose earlier ones were all kept, so that V8 would create them among the old ones: half a
 * megabyte without a garbage collection. Prints by how many bytes the spaces of new and of old objects have grown.
 */
const CREATED = `
const plant = (id) => ({ id, name: 'plant ' + id, tags: [id] });
const kept = [];
for (let id = 0; id < 800_000; id++) kept.push(plant(id));
const used = () => Object.fromEntries(
  require('node:v8').getHeapSpaceStatistics().map((space) => [space.space_name, space.space_used_size]));
const before = used();
let last;
for (let id = 0; id < 3000; id++) last = plant(id);
const after = used();
console.log('created: ' + (after.new_space - before.new_space) + ' ' + (after.old_space - before.old_space));
`;
const SPACES = /created: (-?\d+) (-?\d+)/;

describe('The heap of the service', function () {
  this.slow(5000);

  /** Runs `script` in the process of a service that listens; returns the output once it has the pattern. */
  async function outputOf(script: string, pattern: RegExp, flags: readonly string[] = []): Promise<string> {
    const program = `process.once('SIGUSR2', () => { ${script} }); require(${JSON.stringify(compiledMain())})`;
    const service = ServiceProcess.spawn({}, { command: [process.execPath, ...flags, '-e', program] });
    try {
      await service.listens();
      const before = service.output.length;
      const output = () => service.output.slice(before);
      service.signal('SIGUSR2');
      await until(() => pattern.test(output()));
      return output();
    } finally {
      await service.kill();
    }
  }

  it('may triple until the next full garbage collection', async () => {
    const flags = ['--expose-gc', '--trace-gc-verbose'];
    const output = await outputOf(`${KEPT}; setInterval(gc, 100)`, LIMIT, flags);
    const [, kept, limit] = LIMIT.exec(output)!.map(Number);
    expect(limit! - 3 * kept!).to.be.within(0, NEW_SPACE_KB);
  });

  it('has no object that begins among the old ones', async () => {
    const [, young, old] = SPACES.exec(await outputOf(CREATED, SPACES))!.map(Number);
    expect(old).to.be.below(young! / 4);
  });
});
