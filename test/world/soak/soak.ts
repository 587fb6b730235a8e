/** Loads one service at half of its capacity while it evicts constantly, and samples what must stay flat. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONNECTIONS } from '../../../bench/load';
import { cpuSeconds } from '../../../bench/machine';
import { LoadGenerator } from '../load/generator';
import { userNames, writeHistories } from '../load/histories';
import { MAX_RATE } from '../load/pacing';
import { SEED, residentBytes, startService } from '../load/service';
import { metricsOf } from '../../support/metrics';
import { disconnect, plainClient } from '../../support/redis/server';
import type { ServiceProcess } from '../../support/service-process';
import { writeTokenFile } from '../../support/token-file';
import { until } from '../../support/until';
import type { ClientGroup, Figures, GroupFigures, Latencies, OutcomeCounts } from '../load/workload';

const USERS = 2000;
/** Every third event deletes a plant, so 60 events leave 20 of 40 plants: those with the ids 1, 4, 7 … 58. */
const HISTORY = { events: 60, deletionEvery: 3 };
export const PLANTS_EACH = 20;
const FIRST_IDS = Array.from({ length: PLANTS_EACH }, (_, index) => 3 * index + 1);
const MIX = { plants: FIRST_IDS, writes: 0.3, closesEvery: 100, hangsUpEvery: 500 };
/** One user in ten fits into memory. A user counts as ten plants more. */
const ROOM = (USERS / 10) * (PLANTS_EACH + 10);
/** So few that the load of every user begins with a snapshot, which is replaced several times in half an hour. */
const SNAPSHOT_EVERY = 50;
/** The slices of the measurement of the capacity. */
const SLICES = 8;
/** Of the capacity. */
const SHARE = 0.5;
const PROBE = join(__dirname, 'probe.cjs');

export interface SoakOptions {
  readonly redisUrl: string;
  readonly minutes: number;
  /** Modules that the service loads before its own. */
  readonly preload?: readonly string[];
}

/** The state at the end of one window, and what happened in it. Times in ms, memory in bytes. */
export interface SoakSample {
  readonly succeeded: Latencies;
  /** Of requests that failed. A client that hangs up on purpose is no failure. */
  readonly failures: OutcomeCounts;
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
  /** In memory. */
  readonly plants: number;
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
  /** How many plants the service may have in memory. */
  readonly cacheMaxPlants: number;
  readonly samples: readonly SoakSample[];
}

/** Resolves after `minutes` and some seconds. Rejects if the service or the generator ends. */
export async function soak(
  { redisUrl, minutes, preload = [] }: SoakOptions,
  onSample: (sample: SoakSample) => void = () => {},
): Promise<Soak> {
  const users = userNames('user', USERS);
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-soak-'));
  const redis = plainClient(redisUrl);
  await redis.connect();
  let service: ServiceProcess | undefined;
  try {
    await writeHistories(redis, users, HISTORY);
    writeTokenFile(join(directory, 'tokens.json'), users);
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
  onSample: (sample: SoakSample) => void,
): Promise<Soak> {
  // Garbage collections take part of the windows, so these must not be too short; 60 are enough for a trend.
  const windowSeconds = Math.max(1, minutes);
  const windows = Math.round((minutes * 60) / windowSeconds);
  const sliceSeconds = Math.min(5, Math.max(0.5, minutes));
  const generator = await LoadGenerator.start();
  const group: ClientGroup = { name: 'soak', users, mix: MIX };
  const atFullSpeed = async (seconds: number) => {
    const groups = [{ ...group, clients: CONNECTIONS }];
    const workload = { url: service.url, seed: SEED, endsAfterMs: seconds * 1000, groups };
    return (await generator.play(workload)).groups['soak']!.succeeded.count / seconds;
  };
  try {
    // Until generator and service are compiled.
    await atFullSpeed(4 * sliceSeconds);
    const cpu = () => cpuSeconds(service.pid) ?? NaN;
    const cpuWhenWarm = cpu();
    // The slowest slice counts, because other work on the machine must leave time for twice the rate.
    let capacity = Infinity;
    for (let slice = 0; slice < SLICES; slice++)
      capacity = Math.min(capacity, await atFullSpeed(sliceSeconds));
    const cpuShare = (cpu() - cpuWhenWarm) / (SLICES * sliceSeconds);
    const rate = Math.min(MAX_RATE, SHARE * capacity);
    await sampler.begin();
    const samples: SoakSample[] = [];
    let sampled = Promise.resolve();
    const takeSample = async ({ groups }: Figures) => {
      if (samples.length === windows) return;
      const sample = await sampler.take(groups['soak']!);
      samples.push(sample);
      onSample(sample);
    };
    const steady: ClientGroup = {
      ...group,
      // All connections are in use, so that the number of descriptors depends on nothing else.
      rate: { perSecond: rate, connections: CONNECTIONS, inTurn: true, nap: 'long' },
    };
    // A little longer than the last window.
    const workload = { url: service.url, seed: SEED, endsAfterMs: 1000 * (windows + 0.2) * windowSeconds };
    await generator
      .play({ ...workload, windowMs: 1000 * windowSeconds, groups: [steady] }, (window) => {
        sampled = sampled.then(() => takeSample(window));
        sampled.catch(() => generator.stop());
      })
      .finally(() => sampled);
    if (samples.length < windows) throw new Error(`the soak ended in window ${samples.length} of ${windows}`);
    return {
      windowSeconds,
      capacity,
      rate,
      samples,
      cacheMaxPlants: ROOM,
      cpuShare: Number.isNaN(cpuShare) ? undefined : cpuShare,
    };
  } finally {
    await generator.stop();
  }
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

  async take({ succeeded, outcomes }: GroupFigures): Promise<SoakSample> {
    const { pid, url } = this.service;
    const descriptors = readdirSync(`/proc/${pid}/fd`).length;
    const resident = residentBytes(pid);
    const metric = await metricsOf(url);
    const evictions = metric('plant_store_cache_evictions_total');
    const info = await this.redisMemory();
    const ofRedis = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)![1]);
    const now = performance.now();
    const failures = Object.entries(outcomes).filter(([outcome]) => !/^(2..|hang-up)$/.test(outcome));
    const sample = {
      succeeded,
      failures: Object.fromEntries(failures),
      minute: (now - this.#beganAt) / 60_000,
      ...(await this.#memoryAfterGc()),
      resident,
      descriptors,
      handles: metric('nodejs_active_handles_total'),
      loopDelayP99: 1000 * metric('nodejs_eventloop_lag_p99_seconds'),
      evictionsPerSecond: (1000 * (evictions - this.#evictions)) / (now - this.#sampledAt),
      plants: metric('plant_store_plants'),
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
