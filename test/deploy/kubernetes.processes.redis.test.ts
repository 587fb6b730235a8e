/** The containers of the manifests as processes of this machine: their commands, variables, secrets and probes. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import type { Deployment, StatefulSet } from 'kubernetes-types/apps/v1';
import type { CronJob, Job } from 'kubernetes-types/batch/v1';
import type { Container, PodSpec } from 'kubernetes-types/core/v1';
import { parse } from 'yaml';
import { theBlock } from '../docs/shell';
import { HttpClient } from '../support/client';
import { compiledCli } from '../support/compiled-cli';
import { describeOwnRedis, needsLocalServers } from '../support/redis';
import { endWithProcess } from '../support/redis/end-with-process';
import { freePort } from '../support/redis/free-port';
import { ServiceProcess } from '../support/service-process';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';

/** Keeps the secrets that the pages create as files, and does nothing else. */
const KUBECTL = `#!/bin/bash
[[ "$1 $2 $3" == 'create secret generic' ]] || exit 0
mkdir -p "$SECRETS/$4" && cd "$SECRETS/$4" || exit 1
for each in "\${@:5}"; do
  value=\${each#*=}
  case $each in
    --from-literal=*) printf %s "\${value#*=}" >"\${value%%=*}" ;;
    --from-file=*) cp "$OLDPWD/$value" . ;;
  esac
done
`;

const read = (file: string): unknown => parse(readFileSync(join('deploy/kubernetes', file), 'utf8'));
const podOf = (object: unknown) => (object as Deployment | StatefulSet | Job).spec!.template.spec!;

describeOwnRedis('The manifests of deploy/kubernetes', (startRedis) => {
  const bash = compiledCli();
  const path = temporaryDirectory();
  const service = podOf(read('deployment.yaml'));
  const ofRedis = podOf(read('redis/stateful-set.yaml'));
  const backup = (read('backup/cron-job.yaml') as CronJob).spec!.jobTemplate.spec!.template.spec!;
  const restore = podOf(read('backup/restore-job.yaml'));
  let port: number;
  let redis: ChildProcess | undefined;

  before(async function () {
    needsLocalServers(this, await startRedis(), 'a data directory');
  });
  beforeEach(async () => {
    port = await freePort();
    for (const name of ['secrets', 'bin', 'data', 'backups']) mkdirSync(path(name));
    writeFileSync(path('bin/kubectl'), KUBECTL, { mode: 0o755 });
  });
  afterEach(() => redis?.kill('SIGKILL'));

  /** Runs a block of the pages, with a kubectl that keeps the secrets. */
  async function follow(kind: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
    const text = theBlock(kind).text.replace('npm run --silent token --', 'plant-store token');
    const command = `set -eu; PATH=${path('bin')}:$PATH\n${text}`;
    const settings = { SECRETS: path('secrets'), ...environment };
    const { code, out, error } = await bash(command, settings, path('.')).ended;
    expect(code, error).to.equal(0);
    return out;
  }

  const secret = (name: string, key: string) => readFileSync(path(join('secrets', name, key)), 'utf8');

  /** Where this test has the mounted volumes of a pod. */
  function local(pod: PodSpec, text: string): string {
    const places = pod.containers[0]!.volumeMounts!.map(({ name, mountPath }) => {
      const { secret, configMap } = pod.volumes?.find((volume) => volume.name === name) ?? {};
      if (configMap) return [mountPath, resolve('deploy/redis')] as const;
      return [mountPath, secret ? path(join('secrets', secret.secretName!)) : path(name)] as const;
    });
    const [from, to] = places.find(
      ([mountPath]) => text.startsWith(`${mountPath}/`) || text === mountPath,
    ) ?? ['', ''];
    return to + text.slice(from.length);
  }

  function environmentOf(pod: PodSpec): Record<string, string> {
    return Object.fromEntries(
      pod.containers[0]!.env!.map(({ name, value, valueFrom }) => {
        const { name: from, key } = valueFrom?.secretKeyRef ?? {};
        const text = value ?? secret(from!, key!).replace('plant-store-redis:6379', `127.0.0.1:${port}`);
        return [name, local(pod, text)];
      }),
    );
  }

  const { PATH } = process.env;

  async function startOfManifest(directory = 'data'): Promise<void> {
    const { command, args } = ofRedis.containers[0]!;
    const [program, ...rest] = [...command!, ...args!].map((text) => local(ofRedis, text));
    const ours = ['--port', String(port), '--dir', path(directory)];
    const env = { PATH, ...environmentOf(ofRedis) };
    const started = spawn(program!, [...rest, ...ours], { env, stdio: 'ignore' });
    const forgotten = endWithProcess(() => started.kill('SIGKILL'));
    started.once('close', forgotten);
    redis = started;
    await until(isReady);
  }

  function isReady(): boolean {
    const [program, ...args] = ofRedis.containers[0]!.readinessProbe!.exec!.command!;
    try {
      return execFileSync(program!, ['-p', String(port), ...args], { stdio: 'pipe' }).toString() === 'PONG\n';
    } catch {
      return false;
    }
  }

  async function killRedis(): Promise<void> {
    redis!.kill('SIGKILL');
    await once(redis!, 'close');
  }

  async function startService(): Promise<{ instance: ServiceProcess; ports: Record<string, number> }> {
    const ports = { http: await freePort(), admin: await freePort() };
    const instance = await ServiceProcess.start({
      // Of the image.
      NODE_ENV: 'production',
      ...environmentOf(service),
      AUTH_TOKENS: '',
      PORT: String(ports.http),
      ADMIN_PORT: String(ports.admin),
    });
    return { instance, ports };
  }

  /** Runs the task of a pod of deploy/kubernetes/backup. */
  async function task(pod: PodSpec, args = pod.containers[0]!.args!): Promise<string> {
    const command = [resolve('deploy/redis.sh'), ...args.map((text) => local(pod, text))];
    const environment = { ...environmentOf(pod), CHECK_PORT: String(await freePort()), LIMIT: '30' };
    const { code, out, error } = await bash(`sh ${command.join(' ')}`, environment).ended;
    expect(code, error).to.equal(0);
    return out;
  }

  it('start a Redis and a service that pass their probes, keep a plant through kill -9, and end with 0', async () => {
    const token = /\S{20,}/.exec(await follow('sh kubernetes'))![0];
    await startOfManifest();
    const { instance, ports } = await startService();
    const container: Container = service.containers[0]!;
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      const { port, path } = probe!.httpGet!;
      expect((await fetch(`http://127.0.0.1:${ports[port]}${path}`)).status).to.equal(200);
    }
    const client = new HttpClient(`http://127.0.0.1:${ports['http']}`, 'alice', token);
    expect(await client.create(1, 'Fern')).to.include({ status: 200 });

    await killRedis();
    await startOfManifest();
    await until(async () => (await client.list()).status === 200);
    expect((await client.list()).names).to.deep.equal(['Fern']);

    instance.signal('SIGTERM');
    expect(await instance.exitCode()).to.equal(0);
    // The findings are warnings, and the settings of the manifest cause none.
    expect(instance.output).not.to.match(/"level":(?:"error"|"fatal"|50|60)/);
  });

  it('back up Redis, and restore it beside the data before', async () => {
    const token = /\S{20,}/.exec(await follow('sh kubernetes'))![0];
    await startOfManifest();
    const first = await startService();
    const client = new HttpClient(`http://127.0.0.1:${first.ports['http']}`, 'alice', token);
    await client.create(1, 'Fern');
    await follow('sh kubernetes backup', {
      OPERATOR_PASSWORD: secret('plant-store-redis', 'operator-password'),
      REDIS_STORE_ID: /the store has the id (\S+?)"/.exec(first.instance.output)![1]!,
    });
    expect(await task(backup)).to.contain('verified: ');
    await client.create(2, 'Moss');
    await first.instance.kill();

    const [saved] = readdirSync(path('backups'));
    const [name, , to] = restore.containers[0]!.args!;
    await task(restore, [name!, `/backups/${saved}`, to!]);
    await killRedis();
    await startOfManifest('data/restored');
    const second = await startService();
    const restored = new HttpClient(`http://127.0.0.1:${second.ports['http']}`, 'alice', token);
    await until(async () => (await restored.list()).status === 200);
    expect((await restored.list()).names).to.deep.equal(['Fern']);
    await second.instance.kill();
  });

  it('refuse to start a Redis without a password, or with a short one', () => {
    for (const [REDIS_PASSWORD, reason] of [
      ['', 'must have at least 16 characters'],
      ['0123456789abcde', 'must have at least 16 characters'],
      ['0123456789abcdef@', 'must have only letters, digits, _ and -'],
    ] as const)
      expect(() =>
        execFileSync('sh', ['deploy/redis/start.sh'], { env: { PATH, REDIS_PASSWORD }, stdio: 'pipe' }),
      ).to.throw(`start.sh: REDIS_PASSWORD ${reason}`);
  });
});
