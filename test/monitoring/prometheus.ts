import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endWithProcess } from '../support/redis/end-with-process';
import { freePort } from '../support/redis/free-port';
import { until } from '../support/until';

/** A sample of an instant query. */
export interface MetricSample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

export interface PrometheusOptions {
  /** An empty directory, for its files and data. */
  readonly directory: string;
  readonly config: string;
  readonly rules: string;
}

/** A Prometheus server on this machine. */
export class Prometheus {
  private constructor(
    private readonly child: ChildProcess,
    private readonly url: string,
  ) {}

  /** Resolves once it is ready. */
  static async start({ directory, config, rules }: PrometheusOptions): Promise<Prometheus> {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'prometheus.yaml'), config);
    writeFileSync(join(directory, 'rules.yaml'), rules);
    const address = `127.0.0.1:${await freePort()}`;
    const child = spawn(
      'prometheus',
      [
        `--config.file=${join(directory, 'prometheus.yaml')}`,
        `--storage.tsdb.path=${join(directory, 'data')}`,
        `--web.listen-address=${address}`,
        '--log.level=error',
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    child.once(
      'exit',
      endWithProcess(() => child.kill('SIGKILL')),
    );
    await until(async () => {
      if (child.exitCode !== null) throw new Error('prometheus has ended');
      return (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.ok === true;
    });
    return new Prometheus(child, `http://${address}`);
  }

  /** The samples of an expression now. Rejects if it is invalid. */
  async query(expression: string): Promise<readonly MetricSample[]> {
    const path = `/api/v1/query?${new URLSearchParams({ query: expression }).toString()}`;
    return ((await this.#get(path)) as { readonly result: readonly MetricSample[] }).result;
  }

  /** The names of all metrics. */
  async names(): Promise<readonly string[]> {
    return (await this.#get('/api/v1/label/__name__/values')) as readonly string[];
  }

  /** The names of the alerts that fire. */
  async firing(): Promise<ReadonlySet<string>> {
    const { alerts } = (await this.#get('/api/v1/alerts')) as {
      readonly alerts: readonly { readonly state: string; readonly labels: { readonly alertname: string } }[];
    };
    return new Set(alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname));
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  async #get(path: string): Promise<unknown> {
    const { status, data, error } = (await (await fetch(this.url + path)).json()) as {
      readonly status: string;
      readonly data: unknown;
      readonly error?: string;
    };
    if (status !== 'success') throw new Error(`${path}: ${error!}`);
    return data;
  }
}
