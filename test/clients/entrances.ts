/** The service in a process of its own, directly and behind two proxies. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Haproxy } from '../world/load/haproxy';
import { endWithProcess } from '../support/redis/end-with-process';
import { freePort } from '../support/redis/free-port';
import { ServiceProcess } from '../support/service-process';
import { tokenOf } from '../support/token';
import { until } from '../support/until';

export const ENTRANCES = ['directly', 'behind HAProxy', 'behind nginx'] as const;
export type Entrance = (typeof ENTRANCES)[number];

/** By program: the package of Debian that has it. */
export const PROXIES = { haproxy: 'haproxy', nginx: 'nginx-light' };

/** The addresses of one service for these users, which lives as long as the suite whose body calls this. */
export function entrances(users: readonly string[]): Readonly<Record<Entrance, string>> {
  const urls = {} as Record<Entrance, string>;
  const stops: (() => unknown)[] = [];
  before(async function () {
    this.timeout(60_000);
    const directory = mkdtempSync(join(tmpdir(), 'plant-store-clients-'));
    stops.push(() => rmSync(directory, { recursive: true }));
    const service = await ServiceProcess.start({
      AUTH_TOKENS: users.map((user) => `${user}:${tokenOf(user)}`).join(),
      LOG_FORMAT: 'json',
      LOG_LEVEL: 'info',
    });
    stops.push(() => service.kill());
    const server = Number(new URL(service.url).port);
    const haproxy = await Haproxy.start({
      port: await freePort(),
      servers: [server],
      file: join(directory, 'haproxy.cfg'),
    });
    stops.push(() => haproxy.stop());
    const nginx = await startNginx(directory, server);
    stops.push(nginx.stop);
    Object.assign(urls, { directly: service.url, 'behind HAProxy': haproxy.url, 'behind nginx': nginx.url });
    for (const url of Object.values(urls)) await until(() => isServed(url));
  });
  after(async () => {
    for (const stop of stops.reverse()) await stop();
  });
  return urls;
}

async function isServed(url: string): Promise<boolean> {
  const response = await fetch(`${url}/health/live`).catch(() => undefined);
  return response?.status === 200;
}

/** nginx that keeps connections to the service open. */
async function startNginx(directory: string, server: number) {
  const port = await freePort();
  const file = join(directory, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  );
  writeFileSync(
    file,
    `daemon off;
    master_process off;
    pid ${directory}/nginx.pid;
    error_log stderr;
    events {}
    http {
      access_log off;
      ${temporary.join('\n')}
      upstream plants {
        server 127.0.0.1:${server};
        keepalive 16;
      }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://plants;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
        }
      }
    }`,
  );
  const child = spawn('nginx', ['-c', file], { stdio: 'ignore' });
  return { url: `http://127.0.0.1:${port}`, stop: stopOf(child) };
}

/** Ends the process, also if the tests are interrupted. */
function stopOf(child: ChildProcess): () => Promise<void> {
  const kill = () => child.kill('SIGKILL');
  const ended = once(child, 'exit').finally(endWithProcess(kill));
  return async () => {
    kill();
    await ended;
  };
}
