import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { readConfig } from '../../src/service/config';
import { theBlock } from '../docs/samples';
import { HttpClient } from '../support/client';
import { compiledCli } from '../support/compiled-cli';
import { describePrograms } from '../support/programs';
import { endWithProcess } from '../support/redis/end-with-process';
import { freePort } from '../support/redis/free-port';
import { temporaryDirectory } from '../support/temporary-directory';
import { tokenOf } from '../support/token';
import { until } from '../support/until';
import { startWatched } from '../support/watched-service';

const [REDIS_PASSWORD, REDIS_OPERATOR_PASSWORD] = ['p'.repeat(16), 'o'.repeat(16)];
const ENVIRONMENT = { PATH: process.env.PATH, REDIS_PASSWORD, REDIS_OPERATOR_PASSWORD };

describePrograms({ 'redis-server': 'redis-server' }, 'deploy/redis/start.sh', () => {
  const path = temporaryDirectory();
  const bash = compiledCli();
  const run = (env: NodeJS.ProcessEnv) =>
    spawnSync('sh', ['deploy/redis/start.sh'], { env: { ...ENVIRONMENT, ...env }, encoding: 'utf8' });

  it('has the users of the pages, with the same rights', () => {
    // In place of Redis: prints its configuration.
    writeFileSync(path('redis-server'), '#!/bin/sh\ncat\n', { mode: 0o755 });
    const { stdout } = run({ PATH: `${path('.')}:${process.env.PATH}` });
    const service = theBlock('redis acl').trim();
    const added = /^\| operators, .* \| `(.*)` \|$/m.exec(readFileSync('docs/operations.md', 'utf8'))![1]!;
    const operator = service
      .replace('plant-store', 'plant-store-operator')
      .replace(' (', ` ${added.replaceAll('\\|', '|')} (`);
    const users = [service, operator, ...theBlock('redis tasks').trim().split('\n')];
    const rights = (line: string) => line.replace(/^user |^ACL SETUSER /, '').replace(/ >\S+/, '');
    expect(stdout.match(/^user plant-store.*$/gm)!.map(rights)).to.have.members(users.map(rights));
  });

  it('refuses passwords that are short, or that cannot stand in a URL', () => {
    const SHORT = 'REDIS_PASSWORD must have at least 16 characters';
    for (const [environment, why] of [
      [{ REDIS_PASSWORD: '' }, SHORT],
      [{ REDIS_PASSWORD: 'only-15-letters' }, SHORT],
      [{ REDIS_OPERATOR_PASSWORD: 'p@ssword-of-many-letters' }, 'only letters, digits'],
    ] as const)
      expect(run(environment).stderr).to.contain(why);
  });

  it('starts a Redis on which the service lacks nothing, and an operator can verify and erase', async () => {
    const port = await freePort();
    const args = ['deploy/redis/start.sh', '--port', String(port), '--dir', path('.'), '--save', ''];
    const redis = spawn('sh', args, { env: ENVIRONMENT, stdio: 'ignore' });
    const forgotten = endWithProcess(() => redis.kill('SIGKILL'));
    const as = (user: string, password: string) => ({
      EVENT_STORE: 'redis',
      REDIS_URL: `redis://${user}:${password}@127.0.0.1:${port}`,
    });
    try {
      const ping = `-p ${port} --user probe --pass any --no-auth-warning -e ping`.split(' ');
      await until(() => spawnSync('redis-cli', ping).status === 0);
      const users = { AUTH_TOKENS: `alice:${tokenOf('alice')}`, SNAPSHOT_EVERY: '1' };
      const service = await startWatched({ ...as('plant-store', REDIS_PASSWORD), ...users });
      expect((await new HttpClient(service.url).create(1, 'Fern')).status).to.equal(200);
      const metrics = async () => (await fetch(`${service.url}/metrics`)).text();
      await until(async () => /_snapshots_total\{outcome="(?:saved|failed)"\} 1/.test(await metrics()));
      expect(await metrics()).to.match(/outcome="saved"\} 1/);
      expect(await metrics()).not.to.match(/_redis_finding.* 1$/m);
      await service.stop();
      const commands = 'plant-store events verify && plant-store events erase --user alice --yes';
      const { code, error } = await bash(commands, as('plant-store-operator', REDIS_OPERATOR_PASSWORD)).ended;
      expect(code, error).to.equal(0);
    } finally {
      redis.kill('SIGKILL');
      await once(redis, 'exit').finally(forgotten);
    }
  });
});

it('compose.yaml and deploy/kubernetes have settings that the service accepts', () => {
  const compose = readFileSync('compose.yaml', 'utf8').matchAll(/^ {6}([A-Z_]+): '?(.+?)'?$/gm);
  const deployment = readFileSync('deploy/kubernetes/deployment.yaml', 'utf8');
  const kubernetes = deployment.matchAll(/- name: ((?!NODE)[A-Z_]+)\n +(?:value: '?(.+?)'?\n|valueFrom)/g);
  for (const found of [[...compose].slice(0, 4), [...kubernetes]]) {
    const given = (value = 'redis://redis.example') =>
      value.replace(/^\$\{AUTH.*\}$/, 'alice:0123456789abcdef').replace(/\$\{.*\}/, 'secret');
    const settings: Record<string, string> = {};
    for (const [, name, value] of found) settings[name!] = given(value);
    const { config, problems } = readConfig({ ...settings, NODE_ENV: 'production' });
    expect(problems).to.equal(undefined);
    expect(config).to.include({ EVENT_STORE: 'redis', ADMIN_PORT: 3001 });
  }
});
