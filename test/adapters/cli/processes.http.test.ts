/** Tests that need a process but no Redis: exit codes, configuration, `serve`. */
import { expect } from 'chai';
import { compiledCli } from '../../support/compiled-cli';
import { until } from '../../support/until';

describe('The plant-store process', function () {
  this.slow(5000);
  const bash = compiledCli();

  it('exits with 2 without a store, and names the wrong variable without a stack', async () => {
    const memory = await bash('plant-store list --user alice').ended;
    expect(memory.code).to.equal(2);
    expect(memory.error).to.match(/EVENT_STORE is memory[^]*→ set EVENT_STORE=redis/);
    const wrong = await bash('plant-store list --user alice', {
      EVENT_STORE: 'redis',
      REDIS_URL: 'http:',
      REDIS_URI: 'x',
    }).ended;
    expect(wrong.code).to.equal(2);
    expect(wrong.error)
      .to.contain('2 problems')
      .and.to.contain('REDIS_URI')
      .and.not.to.match(/\n +at /);
  });

  it('does not require AUTH_…, except for serve', async () => {
    const environment = {
      EVENT_STORE: 'redis',
      REDIS_URL: 'redis://127.0.0.1:1',
      AUTH_TOKENS_FILE: '/nowhere',
    };
    const away = await bash('plant-store list --user alice', environment).ended;
    expect(away).to.deep.equal({
      code: 3,
      out: '',
      error:
        'Redis cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n' +
        'plant-store: the event store is unavailable: Redis cannot be reached\n',
    });
    const serve = await bash('plant-store serve --check-config', environment).ended;
    expect(serve.code).to.equal(2);
    expect(serve.error).to.contain('AUTH_TOKENS_FILE');
  });

  it('serves as `npm start` does', async () => {
    const serve = bash('exec plant-store serve', { PORT: '0', SHUTDOWN_NOTICE_MS: '0' });
    await until(() => serve.said.out.includes(' listens on '));
    const url = /listens on (\S+)/.exec(serve.said.out)![1]!;
    expect((await fetch(`${url}/plants`)).status).to.equal(401);
    serve.child.kill('SIGTERM');
    expect(await serve.ended).to.include({ code: 0 });
  });
});
