import { expect } from 'chai';
import { ServiceProcess } from '../../support/service-process';

const WARNING = 'the limit of open files is too low for MAX_CONNECTIONS';

describe('The limit of open files', function () {
  this.slow(5000);
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  /** The output of the service up to its address, started with a limit of open files. */
  async function start(maxConnections: number): Promise<string> {
    const enter = ['sh', '-c', 'ulimit -n 300 && exec "$0" "$@"'];
    const service = ServiceProcess.spawn({ MAX_CONNECTIONS: String(maxConnections) }, { enter });
    try {
      return (await service.listens()).output;
    } finally {
      await service.kill();
    }
  }

  it('causes a warning at start if it is too low for MAX_CONNECTIONS', async () => {
    const warning = (await start(300)).split('\n').find((line) => line.includes(WARNING));
    expect(JSON.parse(warning!)).to.include({ level: 40, limit: 300, maxConnections: 300, needed: 364 });
  });

  it('causes no warning if it suffices', async () => {
    expect(await start(236)).not.to.include(WARNING);
  });
});
