import { expect } from 'chai';
import { compiledMain } from '../../support/compiled';
import { ServiceProcess } from '../../support/service-process';
import { until } from '../../support/until';

/** 80 MB. */
const KEPT = 'globalThis.kept = Array.from({ length: 1e6 }, (_, i) => ({ i, text: `plant ${i}` }))';
/** V8 adds the space of new objects: 8 MB on Node 20, 64 MB on Node 24. */
const NEW_SPACE_KB = 70_000;
const LIMIT = /\[HeapController\] Limit: old size: (\d+) KB, new limit: (\d+) KB/g;

describe('The heap of the service', function () {
  this.slow(5000);

  it('may triple until the next full garbage collection', async () => {
    const script = `${KEPT}; setInterval(gc, 100); require(${JSON.stringify(compiledMain())})`;
    const command = [process.execPath, '--expose-gc', '--trace-gc-verbose', '-e', script];
    const service = ServiceProcess.spawn({}, { command });
    try {
      await service.listens();
      const before = service.output.length;
      const limits = () => [...service.output.slice(before).matchAll(LIMIT)];
      await until(() => limits().length > 0);
      const [, kept, limit] = limits()[0]!.map(Number);
      expect(limit! - 3 * kept!).to.be.within(0, NEW_SPACE_KB);
    } finally {
      await service.kill();
    }
  });
});
