import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { readConfig } from '../../src/service/config';
import { describePrograms } from '../support/programs';
import { temporaryDirectory } from '../support/temporary-directory';
import { usersOfPages } from './users';

const [REDIS_PASSWORD, REDIS_OPERATOR_PASSWORD] = ['p'.repeat(16), 'o'.repeat(16)];
const ENVIRONMENT = { PATH: process.env.PATH, REDIS_PASSWORD, REDIS_OPERATOR_PASSWORD };

describePrograms({ 'redis-server': 'redis-server' }, 'deploy/redis/start.sh', () => {
  const path = temporaryDirectory();
  const run = (env: NodeJS.ProcessEnv) =>
    spawnSync('sh', ['deploy/redis/start.sh'], {
      env: { ...ENVIRONMENT, ...env },
      encoding: 'utf8',
    });

  it('creates the users of the pages, with the same rights', () => {
    // In place of Redis: prints its configuration.
    writeFileSync(path('redis-server'), '#!/bin/sh\ncat\n', { mode: 0o755 });
    const { stdout } = run({ PATH: `${path('.')}:${process.env.PATH}` });
    const rights = (line: string) => line.replace(/^user |^ACL SETUSER /, '').replace(/ >\S+/, '');
    expect(stdout.match(/^user plant-store.*$/gm)!.map(rights)).to.have.members(
      usersOfPages().map(rights),
    );
    expect(stdout).to.contain(`user plant-store-operator on >${REDIS_OPERATOR_PASSWORD} `);
  });

  it('refuses passwords that are too short, or that a URL cannot contain', () => {
    for (const [environment, why] of [
      [{ REDIS_PASSWORD: 'only-15-letters' }, 'REDIS_PASSWORD must have at least 16 characters'],
      [{ REDIS_OPERATOR_PASSWORD: 'p@ssword-of-many-letters' }, 'only letters, digits'],
    ] as const)
      expect(run(environment).stderr).to.contain(why);
  });
});

describe('compose.yaml and deploy/kubernetes', () => {
  const path = temporaryDirectory();

  it('have settings that the service accepts, including the id of the store', () => {
    type Compose = { services: { plants: { environment: Record<string, string> } } };
    type Deployment = {
      spec: { template: { spec: { containers: [{ env: { name: string; value?: string }[] }] } } };
    };
    const { plants } = (parse(readFileSync('compose.yaml', 'utf8')) as Compose).services;
    const deployment = parse(
      readFileSync('deploy/kubernetes/deployment.yaml', 'utf8'),
    ) as Deployment;
    const { env } = deployment.spec.template.spec.containers[0];
    const kubernetes = Object.fromEntries(env.map(({ name, value = '' }) => [name, value]));
    writeFileSync(path('url'), 'redis://redis.example', { mode: 0o440 });
    for (const environment of [plants.environment, kubernetes]) {
      const settings: Record<string, string> = { NODE_ENV: 'production' };
      for (const [name, text] of Object.entries(environment))
        settings[name] = text
          .replace(/\$\{AUTH_TOKENS:.*\}/, 'alice:0123456789abcdef')
          .replace(/\$\{\w+:-(.*)\}|\$\{.*\}/, (_, fallback = 'secret') => String(fallback))
          .replace('/etc/plant-store-redis', path('.'));
      const { config, problems } = readConfig(settings);
      expect(problems).to.equal(undefined);
      expect(config).to.include({ EVENT_STORE: 'redis', ADMIN_PORT: 3001 });
      expect(settings).to.have.property('REDIS_STORE_ID', '');
    }
  });
});
