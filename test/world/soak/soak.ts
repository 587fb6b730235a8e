/** Loads one service at half of its capacity while it evicts constantly, and samples what must stay flat. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tokenDigest } from '../../../src/adapters/auth/token-digest';
import { cpuSeconds } from '../../../bench/machine';
import { userNames, writeHistories } from '../load/histories';
import { SEED, metricsOf, residentBytes, startService } from '../load/service';
import { endWithProcess } from '../../support/redis/end-with-process';
import { disconnect, plainClient } from '../../support/redis/server';
import type { ServiceProcess } from '../../support/service-process';
import { tokenOf } from '../../support/token';
import { until } from '../../support/until';
import {
  HISTORY,
  PLANTS_EACH,
  SLICES,
  type Traffic,
  type TrafficReport,
  type TrafficWindow,
} from './traffic';

const USERS = 2000;
/** One user in ten fits into memory. A user counts as ten plants more. */
const ROOM = (USERS / 10) * (PLANTS_EACH + 10);
/** So few that the load of every user begins with a snapshot, which is replaced several times in half an hour. */
const SNAPSHOT_EVERY = 50;
const PROBE = join(__dirname, 'probe.cjs');

export interface SoakOptions {
  readonly redisUrl: string;
  readonly minutes: number;
  /** Modules that the service loads before its own. */
  readonly preload?: readonly string[];
}

/** The state at the end of one window, and what happened in it. Times in ms, memory in bytes. */
export interface Sample extends TrafficWindow {
  /** Since the start of the first window. */
  readonly minute: number;
  /** Memory of JavaScript objects after a garbage collection, and of the buffers that belong to them. */
  readonly heap: number;
  readonly external: number;
  readonly resident: number;
  /** Open file descriptors. */
  readonly descriptors: number;
  /** Handles that keep the event loop alive. */
  readonly handles: number;
  readonly loopDelayP99: number;
  readonly evictionsPerSecond: number;
  readonly redisMemory: number;
  /** Buffers of the clients in Redis. */
  readonly redisClients: number;
}

export interface Soak {
  readonly windowSeconds: number;
  /** Requests a second at full speed, in the slowest slice, and the processor time of the service meanwhile, in seconds a second. */
  readonly capacity: number;
  readonly cpuShare: number | undefined;
  /** Requests a second in the windows. */
  readonly rate: number;
  readonly samples: readonly Sample[];
}

/** Resolves after `minutes` and some seconds. Rejects if the service or the generator ends. */
export async function soak(
  { redisUrl, minutes, preload = [] }: SoakOptions,
  onSample: (sample: Sample) => void = () => {},
): Promise<Soak> {
  const users = userNames('user', USERS);
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-soak-'));
  const redis = plainClient(redisUrl);
  await redis.connect();
  let service: ServiceProcess | undefined;
  try {
    await writeHistories(redis, users, HISTORY);
    const tokens = users.map((name) => ({ name, tokens: [{ sha256: tokenDigest(tokenOf(name)) }] }));
    writeFileSync(join(directory, 'tokens.json'), JSON.stringify({ users: tokens }), { mode: 0o600 });
    service = await startService(redisUrl, [], {
      AUTH_TOKENS: '',
      AUTH_TOKENS_FILE: join(directory, 'tokens.json'),
      CACHE_MAX_PLANTS: String(ROOM),
      SNAPSHOT_EVERY: String(SNAPSHOT_EVERY),
      LOG_LEVEL: 'warn',
      NODE_OPTIONS: [PROBE, ...preload].map((module) => `--require "${module}"`).join(' '),
    });
    const sampler = new Sampler(service, () => redis.info('memory'));
    return await play(service, minutes, users, sampler, onSample);
  } finally {
    await service?.kill();
    disconnect(redis);
    rmSync(directory, { recursive: true });
  }
}

async function play(
  service: ServiceProcess,
  minutes: number,
  users: readonly string[],
  sampler: Sampler,
  onSample: (sample: Sample) => void,
): Promise<Soak> {
  // Garbage collections take part of the windows, so these must not be too short; 60 are enough for a trend.
  const windowSeconds = Math.max(1, minutes);
  const windows = Math.round((minutes * 60) / windowSeconds);
  const sliceSeconds = Math.min(5, Math.max(0.5, minutes));
  const traffic: Traffic = {
    ...{ url: service.url, users, seed: SEED, warmUpSeconds: 4 * sliceSeconds },
    ...{ sliceSeconds, windows, windowSeconds },
  };
  const child = fork(join(__dirname, 'traffic.child.ts'), [JSON.stringify(traffic)], {
    execArgv: ['-r', 'ts-node/register/transpile-only'],
  });
  const forget = endWithProcess(() => child.kill('SIGKILL'));
  const cpu = () => cpuSeconds(service.pid) ?? NaN;
  const samples: Sample[] = [];
  let [capacity, rate, cpuShare, cpuWhenWarm] = [0, 0, NaN, 0];
  const note = async (report: TrafficReport) => {
    if (report.type === 'warm') cpuWhenWarm = cpu();
    else if (report.type === 'capacity') {
      ({ perSecond: capacity, rate } = report);
      cpuShare = (cpu() - cpuWhenWarm) / (SLICES * sliceSeconds);
      await sampler.begin();
    } else {
      const sample = await sampler.take(report.window);
      samples.push(sample);
      onSample(sample);
    }
  };
  let noted = Promise.resolve();
  child.on('message', (report: TrafficReport) => {
    noted = noted.then(() => note(report));
    noted.catch(() => child.kill());
  });
  await once(child, 'exit');
  forget();
  await noted;
  if (samples.length < windows) throw new Error(`the soak ended in window ${samples.length} of ${windows}`);
  return { windowSeconds, capacity, rate, samples, cpuShare: Number.isNaN(cpuShare) ? undefined : cpuShare };
}

/** Samples a service that has loaded the probe. */
class Sampler {
  #beganAt = 0;
  #sampledAt = 0;
  #evictions = 0;

  constructor(
    private readonly service: ServiceProcess,
    private readonly redisMemory: () => Promise<string>,
  ) {}

  /** Before the first window. */
  async begin(): Promise<void> {
    const metric = await metricsOf(this.service.url);
    this.#evictions = metric('plant_store_cache_evictions_total');
    this.#beganAt = this.#sampledAt = performance.now();
  }

  async take(window: TrafficWindow): Promise<Sample> {
    const { pid, url } = this.service;
    const descriptors = readdirSync(`/proc/${pid}/fd`).length;
    const resident = residentBytes(pid);
    const metric = await metricsOf(url);
    const evictions = metric('plant_store_cache_evictions_total');
    const info = await this.redisMemory();
    const ofRedis = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)![1]);
    const now = performance.now();
    const sample = {
      ...window,
      minute: (now - this.#beganAt) / 60_000,
      ...(await this.#memoryAfterGc()),
      resident,
      descriptors,
      handles: metric('nodejs_active_handles_total'),
      loopDelayP99: 1000 * metric('nodejs_eventloop_lag_p99_seconds'),
      evictionsPerSecond: (1000 * (evictions - this.#evictions)) / (now - this.#sampledAt),
      redisMemory: ofRedis('used_memory'),
      redisClients: ofRedis('mem_clients_normal'),
    };
    this.#evictions = evictions;
    this.#sampledAt = now;
    return sample;
  }

  async #memoryAfterGc(): Promise<{ readonly heap: number; readonly external: number }> {
    const printed = () => [...this.service.output.matchAll(/^\{"afterGc":(.*)\}$/gm)];
    const before = printed().length;
    this.service.signal('SIGUSR2');
    await until(() => printed().length > before || !this.service.running);
    if (printed().length === before) throw new Error(`the service ended:\n${this.service.output}`);
    return JSON.parse(printed().at(-1)![1]!) as { readonly heap: number; readonly external: number };
  }
}
