import { existsSync } from 'node:fs';
import { get } from 'node:http';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';

/** Where a Docker daemon is to be looked for, as in DOCKER_HOST: the same places where testcontainers looks. */
export function dockerHost(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env.DOCKER_HOST) return env.DOCKER_HOST;
  const home = join(homedir(), '.docker');
  const socket = [
    '/var/run/docker.sock',
    env.XDG_RUNTIME_DIR && join(env.XDG_RUNTIME_DIR, 'docker.sock'),
    join(home, 'run/docker.sock'),
    join(home, 'desktop/docker.sock'),
    `/run/user/${userInfo().uid}/docker.sock`,
  ].find((path) => path && existsSync(path));
  return socket && `unix://${socket}`;
}

/**
 * Whether a daemon answers there, soon: a client, or a socket that its daemon
 * left behind, says nothing about that. Any HTTP answer will do, for a daemon
 * that wants TLS answers plain HTTP with a 400.
 */
export function dockerAnswers(host: string, withinMs = 10_000): Promise<boolean> {
  return new Promise((resolve) => {
    const { protocol, hostname, port, pathname } = new URL(host);
    const place = protocol === 'unix:' ? { socketPath: pathname } : { hostname, port };
    get({ ...place, path: '/_ping', signal: AbortSignal.timeout(withinMs) }, (answer) => {
      answer.resume();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}
