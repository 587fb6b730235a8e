/** Tests that need a process and a Redis: kills, signals, pipes, and a running service. */
import { execFileSync } from 'node:child_process';
import { createWriteStream, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { HEADER, eventLine, newSeal, trailerLine } from '../../../src/adapters/cli/event-lines';
import { plantKind } from '../../../src/application';
import { created, deleted, encoded, plantsOf } from '../../support/given';
import { HttpClient } from '../../support/client';
import { compiledCli } from '../../support/compiled-cli';
import { instancesPerTest } from '../../support/instance';
import { describeRedis } from '../../support/redis';
import { temporaryDirectory } from '../../support/temporary-directory';
import { until } from '../../support/until';

/** An export of `users` with `each` events per user, one per commit. */
function anExport(users: readonly string[], each: number): string {
  let body = HEADER;
  for (const user of users) {
    for (let version = 1; version <= each; version++) {
      const event = version % 4 === 0 ? deleted(version - 1) : created(version, `Fern ${version}`, user);
      body += eventLine(plantKind, plantsOf(user), {
        version,
        commit: `${user}-${version}`,
        ...encoded(event)[0]!,
      });
    }
  }
  const seal = newSeal();
  seal.update(body);
  return body + trailerLine({ streams: users.length, events: users.length * each, seal: seal.digest('hex') });
}

describeRedis('The plant-store process on Redis', (redis) => {
  before(function () {
    // For all tests of this suite.
    this.test!.parent!.slow(5000);
  });
  const bash = compiledCli();
  const path = temporaryDirectory();
  const startInstances = instancesPerTest();
  let prefix = 0;
  let environment: Record<string, string>;
  beforeEach(() => {
    const REDIS_KEY_PREFIX = `${redis.prefix}:cli-${++prefix}`;
    environment = {
      EVENT_STORE: 'redis',
      REDIS_URL: redis.url,
      REDIS_KEY_PREFIX,
      LOG_LEVEL: 'error',
      STORE_TIMEOUT_MS: '10000',
    };
  });
  const cli = (command: string) => bash(command, environment).ended;
  /** Without that of the store's id. */
  const keys = () => redis.admin.keys(`${environment['REDIS_KEY_PREFIX']!}:{*:plants/*`);

  it('prints the id that a service created, and creates none', async () => {
    expect(await cli('plant-store create --user alice --id 1 --name Fern')).to.include({
      code: 0,
      error: '',
    });
    expect(await cli('plant-store events store-id')).to.include({ code: 1, out: '' });
    expect(await keys()).to.have.lengthOf(1);

    await startInstances(1, environment);
    const [, , , id] = (
      await redis.admin.xrange(`${environment['REDIS_KEY_PREFIX']!}:store:{identity}:events`, '-', '+')
    )[0]![1];
    expect(await cli('plant-store events store-id')).to.include({ code: 0, out: `${id}\n`, error: '' });
    expect((await cli('plant-store events store-id --json')).out).to.equal(`{"id":"${id}"}\n`);
    environment['REDIS_STORE_ID'] = '11111111-1111-4111-8111-111111111111';
    const refused = await cli('plant-store list --user alice');
    expect(refused).to.include({ code: 3, out: '' });
    expect(refused.error).to.include(`has the id ${id}, but REDIS_STORE_ID is 1111`);
  });

  it('prints the key of a user', async () => {
    await cli('plant-store create --user alice/x --id 1 --name Fern');
    const { out, error } = await cli('plant-store events key --user alice/x');
    expect(error).to.equal('');
    expect(await keys()).to.deep.equal([out.trimEnd()]);
  });

  it('continues an import that was killed, and the store then equals the export', async () => {
    const text = anExport(['alice', 'bob', 'carol|{c}'], 2000);
    writeFileSync(path('in'), text);
    const key = `${environment['REDIS_KEY_PREFIX']!}:{20}:plants/bob:events`;
    // Standard input, so that it starts without a check; exec, so that the signal reaches the command itself.
    const killed = bash(`exec plant-store events import < ${path('in')}`, environment);
    await until(async () => (await redis.admin.xlen(key)) > 100);
    killed.child.kill('SIGKILL');
    expect((await killed.ended).code).to.equal('SIGKILL');
    expect(await redis.admin.xlen(key)).to.be.within(100, 1999);

    for (let again = 0; again < 2; again++) {
      expect(await cli(`plant-store events import --json ${path('in')}`)).to.include({
        code: 0,
        out: '{"streams":3,"events":6000,"refused":[]}\n',
      });
    }
    expect(await cli(`plant-store events export --quiet | cmp - ${path('in')}`)).to.include({ code: 0 });
    expect((await cli('plant-store events verify')).out).to.equal(
      '3 streams, 6000 events, 3000 plants: no problems.\n',
    );
  });

  it('exits with 130 on Ctrl-C, prints how many events an import recorded, and does not wait for its input', async () => {
    execFileSync('mkfifo', [path('pipe')]);
    const running = bash(`exec plant-store events import < ${path('pipe')}`, environment);
    const input = createWriteStream(path('pipe'));
    input.on('error', () => {});
    input.write(anExport(['alice'], 500));
    const key = `${environment['REDIS_KEY_PREFIX']!}:{39}:plants/alice:events`;
    await until(async () => (await redis.admin.xlen(key)) > 100);
    running.child.kill('SIGINT');
    const { code, error } = await running.ended;
    input.destroy();
    expect(code).to.equal(130);
    expect(error).to.match(/^The store has at least \d+ events of the export; .* be repeated\.\n/);
  });

  it('erases a user of a running service, which then lists no plants and accepts new ones', async () => {
    const [one, other] = await startInstances(2, environment);
    const [here, there] = [new HttpClient(one!.url), new HttpClient(other!.url)];
    await here.create(1, 'Fern');
    await new HttpClient(one!.url, 'bob').create(1, 'Moss');
    expect((await there.list()).names).to.deep.equal(['Fern']);

    expect(await cli('plant-store events erase --user alice --yes')).to.include({ code: 0, error: '' });

    expect(await keys()).to.deep.equal([`${environment['REDIS_KEY_PREFIX']!}:{20}:plants/bob:events`]);
    for (const client of [here, there]) expect((await client.list()).names).to.deep.equal([]);
    expect((await there.create(1, 'Ivy')).status).to.equal(200);
    expect((await here.list()).names).to.deep.equal(['Ivy']);
    expect((await here.delete(1)).status).to.equal(204);
    expect((await new HttpClient(other!.url, 'bob').list()).names).to.deep.equal(['Moss']);
  });

  it('records short commit ids, as the service does', async () => {
    const [instance] = await startInstances(1, environment);
    await new HttpClient(instance!.url).create(1, 'Fern');
    await cli('plant-store create --user alice --id 2 --name Moss');

    const entries = await redis.admin.xrange((await keys())[0]!, '-', '+');
    expect(entries).to.have.lengthOf(2);
    for (const [, fields] of entries) expect(fields[5]).to.match(/^\d{19}$/);
  });

  it('reports a history without its last events, an unreadable one, and foreign keys', async () => {
    writeFileSync(path('in'), anExport(['alice', 'bob', 'carol'], 3));
    await cli(`plant-store events import ${path('in')}`);
    const key = (rest: string) => `${environment['REDIS_KEY_PREFIX']!}:${rest}`;
    await redis.admin.xdel(key('{39}:plants/alice:events'), '3-0');
    await redis.admin.xadd(
      key('{20}:plants/bob:events'),
      '4-0',
      'type',
      'PlantMoved',
      'data',
      '{}',
      'commit',
      'x',
    );
    await redis.admin.set(key('{9}:plants/dora:events'), '');
    const { code, out } = await cli('plant-store events verify');
    expect(code).to.equal(1);
    expect(out.trimEnd().split('\n')).to.deep.equal([
      `key ${key('{9}:plants/dora:events')} is not a stream`,
      'plants/alice: ends at version 2, but its last version is 3: the last events were deleted',
      'plants/bob: event 4 is not a valid PlantMoved of this version',
      '3 streams, 5 events, 5 plants: 3 problems.',
    ]);
  });

  it('exits with 141, without a message, when the reader closes the pipe', async () => {
    writeFileSync(path('in'), anExport(['alice'], 5000));
    await cli(`plant-store events import ${path('in')}`);
    const { out, error } = await cli('plant-store events export --quiet | head -n 1; echo ${PIPESTATUS[0]}');
    expect({ out, error }).to.deep.equal({ out: `${HEADER}141\n`, error: '' });
  });
});
