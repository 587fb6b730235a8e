import { expect } from 'chai';
import { blocks } from '../docs/blocks';
import { HttpClient } from '../support/client';
import { tokenOf } from '../support/instance';
import { until } from '../support/until';
import { describeDocker, docker, image } from './docker';

const TOKENS = ['--env', `AUTH_TOKENS=alice:${tokenOf('alice')}`, '--env', 'EVENT_STORE=memory'];
const PAGE = blocks().find(({ kind }) => kind === 'sh container')!.text;
/** As docs/operations.md says, in bytes. It differs by a few megabytes between versions of Node. */
const AT_MOST = 145e6;
const OURS_AT_MOST = 30e6;

describeDocker('The image', () => {
  let name = '';
  const containers: string[] = [];

  before(async () => void (name = await image()));
  afterEach(() => Promise.all(containers.splice(0).map((id) => docker('rm', '--force', '--volumes', id))));

  /** The command of the page, on a free port, with a token of the tests. */
  async function start(...options: string[]): Promise<{ id: string; url: string }> {
    const [, , ...args] = PAGE.split('\n')[1]!
      .replace(/127.0.0.1:3000:/, '127.0.0.1::')
      .split(' ');
    const given = args.slice(0, -1).map((arg) => arg.replace(/^AUTH_TOKENS=.*$/, TOKENS[1]!));
    const id = await docker('run', '--detach', ...given, ...options, name);
    containers.push(id);
    const url = `http://${await docker('port', id, '3000')}`;
    return { id, url };
  }
  const inspect = (id: string, what: string) => docker('inspect', '--format', `{{${what}}}`, id);
  const healthy = (id: string) =>
    until(async () => (await inspect(id, '.State.Health.Status')) === 'healthy');

  it('contains Node, its libraries and the service, within its documented size', async () => {
    expect(Number(await inspect(name, '.Size'))).to.be.below(AT_MOST);
    const layers = (
      await docker('history', '--human=false', '--no-trunc', '--format', '{{.Size}} {{.CreatedBy}}', name)
    ).split('\n');
    const ours = layers
      .filter((layer) => layer.includes('COPY') && !/ in \/ *$/.test(layer))
      .map((layer) => parseInt(layer));
    expect(ours).to.have.length(3);
    expect(ours.reduce((sum, size) => sum + size, 0)).to.be.within(1e6, OURS_AT_MOST);
  });

  it('serves without root, without other programs, on a read-only file system', async () => {
    const { id, url } = await start('--cap-drop', 'ALL');
    await healthy(id);
    const client = new HttpClient(url);
    expect(await client.create(1, 'Fern')).to.include({ status: 200 });
    expect((await client.list()).names).to.deep.equal(['Fern']);

    const run = (...args: string[]) => docker('run', '--rm', '--entrypoint', ...args);
    expect(await run('node', name, '--print', '[process.getuid(), process.getgid()].join()')).to.equal(
      '65532,65532',
    );
    for (const program of ['sh', 'npm']) {
      const error: unknown = await run(program, name).catch((error: unknown) => error);
      expect(String(error), program).to.contain('executable file not found');
    }
  });

  it('accepts no request after SIGTERM, and ends with 0', async () => {
    const { id } = await start();
    await healthy(id);
    await docker('stop', '--time', '20', id);
    expect(await inspect(id, '.State.ExitCode')).to.equal('0');
  });

  it('reports problems of its configuration, and is also the command line', async () => {
    const error: unknown = await docker('run', '--rm', ...TOKENS, '--env', 'PORT=many', name).catch(
      (error: unknown) => error,
    );
    expect(String(error)).to.contain('PORT');
    expect(await docker('run', '--rm', name, '--help')).to.contain('events verify');
    expect(await docker('run', '--rm', ...TOKENS, name, 'serve', '--check-config')).to.contain('is valid');
  });
});
