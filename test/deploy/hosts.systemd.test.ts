import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { variables, readConfig } from '../../src/service/config';
import { describePrograms } from '../support/programs';
import { temporaryDirectory } from '../support/temporary-directory';

const run = promisify(execFile);
const UNIT = 'deploy/systemd/plant-store.service';

describePrograms({ 'systemd-analyze': 'systemd' }, UNIT, () => {
  const path = temporaryDirectory();
  const unit = readFileSync(UNIT, 'utf8');
  const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)![1]!;

  it('is accepted by systemd, which rates its exposure as low', async () => {
    // With a program that exists.
    writeFileSync(
      path('plant-store.service'),
      unit.replace(/^ExecStart=.*/m, 'ExecStart=/bin/true'),
    );
    const { stderr } = await run('systemd-analyze', ['verify', path('plant-store.service')]);
    expect(stderr).to.equal('');
    const args = ['security', '--offline=yes', '--threshold=30', path('plant-store.service')];
    await run('systemd-analyze', args);
  });

  it('has settings that the service accepts', () => {
    const [credential] = setting('LoadCredential').split(':');
    writeFileSync(path(credential!), 'redis://redis.example\n');
    chmodSync(path(credential!), 0o400);
    const environment = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, words]) =>
      words!.split(' '),
    );
    const settings = Object.fromEntries(
      environment.map((each) => each.replace('%d', path('.')).split(/=(.*)/)),
    );
    const { config, problems } = readConfig(settings as Record<string, string>);
    expect(problems).to.equal(undefined);
    expect(config).to.include({
      REDIS_URL: 'redis://redis.example',
      ADMIN_PORT: 3001,
      production: true,
    });
  });
});

describePrograms({ promtool: 'prometheus' }, 'deploy/prometheus/prometheus.yaml', () => {
  it('is accepted by Prometheus, with the job of the alerts and a timeout longer than that of the store', async () => {
    await run('promtool', ['check', 'config', 'deploy/prometheus/prometheus.yaml']);
    const { scrape_configs } = parse(readFileSync('deploy/prometheus/prometheus.yaml', 'utf8')) as {
      scrape_configs: readonly { job_name: string; scrape_timeout: string }[];
    };
    const [{ job_name, scrape_timeout } = { job_name: '', scrape_timeout: '' }] = scrape_configs;
    expect(readFileSync('deploy/prometheus/alerts.yaml', 'utf8')).to.contain(`job="${job_name}"`);
    const storeTimeout = Number(
      variables.find(({ name }) => name === 'STORE_TIMEOUT_MS')!.fallback,
    );
    expect(parseInt(scrape_timeout, 10) * 1000).to.be.above(storeTimeout);
  });
});
