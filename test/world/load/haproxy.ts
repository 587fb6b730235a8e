import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { endWithProcess } from '../../support/redis/end-with-process';

export interface HaproxyOptions {
  readonly port: number;
  readonly servers: readonly number[];
  /** The path of the adapted configuration. */
  readonly file: string;
  /** Limit of the requests in flight on a server; that of the file by default. */
  readonly maxconn?: number;
}

/** A request in the log of the proxy. */
export interface ProxiedRequest {
  readonly requestId: string;
  readonly status: number;
  readonly server: string;
}

export const CONFIGURATION = 'deploy/haproxy.cfg';

/** HAProxy with deploy/haproxy.cfg, adapted to instances on ports of this machine. */
export class Haproxy {
  readonly url: string;
  /** The log lines about servers that went up or down. */
  readonly transitions: string[] = [];
  readonly requests: ProxiedRequest[] = [];
  #output = '';

  private constructor(
    private readonly child: ChildProcess,
    port: number,
  ) {
    this.url = `http://127.0.0.1:${port}`;
    const note = (chunk: Buffer) => {
      const lines = (this.#output + chunk.toString()).split('\n');
      this.#output = lines.pop()!;
      this.requests.push(
        ...lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as ProxiedRequest),
      );
      this.transitions.push(...lines.filter((line) => /Server \S+ is (UP|DOWN)/.test(line)));
    };
    // Standard error has the same lines again.
    child.stdout!.on('data', note);
  }

  static isInstalled(): boolean {
    return spawnSync('haproxy', ['-v']).status === 0;
  }

  static async start({ port, servers, file, maxconn }: HaproxyOptions): Promise<Haproxy> {
    const configuration = adapt(readFileSync(CONFIGURATION, 'utf8'), port, servers);
    writeFileSync(
      file,
      maxconn === undefined
        ? configuration
        : configuration.replace(/server maxconn \d+/, `server maxconn ${maxconn}`),
    );
    const child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'ignore'] });
    const forget = endWithProcess(() => child.kill('SIGKILL'));
    child.once('exit', forget);
    await once(child, 'spawn');
    return new Haproxy(child, port);
  }

  /** Number of times that a server went down. */
  get downs(): number {
    return this.transitions.filter((line) => line.includes('is DOWN')).length;
  }

  /** Number of times that a server came up again. */
  get ups(): number {
    return this.transitions.length - this.downs;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exit;
  }
}

function adapt(configuration: string, port: number, servers: readonly number[]): string {
  const replace = (text: string, pattern: RegExp, by: string) => {
    if (!pattern.test(text)) throw new Error(`deploy/haproxy.cfg has nothing like ${String(pattern)}`);
    return text.replace(pattern, by);
  };
  let text = replace(configuration, /^resolvers docker\n(?:[ \t].*\n)+/m, '');
  text = replace(text, /(?<=^ *errorfile \d+ )/gm, `${resolve('deploy')}/`);
  text = replace(text, /^ *bind .*$/m, `  bind 127.0.0.1:${port}`);
  text = replace(text, / init-addr none resolvers docker/, '');
  const lines = servers.map((server, index) => `  server plants${index + 1} 127.0.0.1:${server}$1`);
  return replace(text, /^ *server-template \S+ \d+ \S+(.*)$/m, lines.join('\n'));
}
