import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { readConfig } from '../../src/service/config';
import { compiledCli } from '../support/service-process';
import { describePrograms } from '../support/programs';
import { freePort } from '../support/redis/free-port';
import { TestProcess } from '../support/service-process';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';
import { usersOfPages } from './users';

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
    const rights = (line: string) => line.replace(/^user |^ACL SETUSER /, '').replace(/ >\S+/, '');
    expect(stdout.match(/^user plant-store.*$/gm)!.map(rights)).to.have.members(usersOfPages().map(rights));
  });

  it('refuses passwords that are short, or that cannot stand in a URL', () => {
    for (const [environment, why] of [
      [{ REDIS_PASSWORD: 'only-15-letters' }, 'REDIS_PASSWORD must have at least 16 characters'],
      [{ REDIS_OPERATOR_PASSWORD: 'p@ssword-of-many-letters' }, 'only letters, digits'],
    ] as const)
      expect(run(environment).stderr).to.contain(why);
  });

  it('starts a Redis on which its users can write and erase', async () => {
    const port = await freePort();
    const args = ['deploy/redis/start.sh', '--port', String(port), '--dir', path('.'), '--save', ''];
    const redis = new TestProcess(spawn('sh', args, { env: ENVIRONMENT }));
    try {
      const ping = `-p ${port} --user probe --pass any --no-auth-warning -e ping`.split(' ');
      await until(() => spawnSync('redis-cli', ping).status === 0);
      const as = (user: string) =>
        `EVENT_STORE=redis REDIS_URL=redis://${user}@127.0.0.1:${port} plant-store`;
      const create = `${as(`plant-store:${REDIS_PASSWORD}`)} create --user alice --id 1 --name Fern`;
      const erase = `${as(`plant-store-operator:${REDIS_OPERATOR_PASSWORD}`)} events erase --user alice --yes`;
      expect((await bash(`${create} && ${erase}`).ended).out).to.equal('Fern\nErased 1 event of alice.\n');
    } finally {
      await redis.kill();
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
