import { setTimeout as pause } from 'node:timers/promises';
import pino from 'pino';
import {
  FEED_BEGINNING,
  type FeedEntry,
  type FeedTrail,
  type OpenEventStore,
  isTransient,
  positionOf,
  withPosition,
} from '../../../src/event-sourcing';
import { readConfig } from '../../../src/service/config';
import { openEvents } from '../../../src/service/events';
import { plantsOf } from '../../support/given';
import type { StreamEntry } from '../../support/stored-events';
import type { FaultWindow } from '../checks/verdict';

const PAUSE_MS = 20;
/** After so many reads that failed, it opens the store again: a restored store is another one. */
const REOPENS_AFTER = 50;

/** What a consumer knows of a bucket. */
interface Followed {
  trail: FeedTrail;
  /** The entries that it has processed, without those that a reset has revealed as lost. */
  entries: FeedEntry[];
}

/** A consumer of the feed, while the servers fail: it must process each commit that is stored once, and no other. */
export class FeedFollower {
  readonly #buckets = new Map<number, Followed>();
  /** The times at which the feed had lost its end. */
  readonly #resets: number[] = [];
  #stopped = false;
  #abandoned = false;
  #opened: OpenEventStore | undefined;
  readonly #following: Promise<void>;

  constructor(
    private readonly environment: Readonly<Record<string, string>>,
    private readonly users: readonly string[],
  ) {
    this.#following = this.#follow();
    // Handled by `stop`.
    this.#following.catch(() => {});
  }

  /** Reads to the end of the feed, and stops. Rejects if it does not get there within this time. */
  async stop(withinMs: number): Promise<void> {
    this.#stopped = true;
    const late = pause(withinMs, undefined, { ref: false }).then(() => {
      this.#abandoned = true;
      throw new Error('the feed could not be read to its end');
    });
    await Promise.race([this.#following, late]).finally(() => this.#opened?.close());
  }

  async #follow(): Promise<void> {
    for (let failed = 0, ended = false; !ended && !this.#abandoned;) {
      await pause(PAUSE_MS);
      ended = this.#stopped;
      try {
        this.#opened ??= await this.#open();
        const { feed } = this.#opened;
        for (const bucket of new Set(this.users.map((user) => feed!.bucketOf(plantsOf(user)))))
          while (await this.#readPage(bucket)) continue;
        failed = 0;
      } catch (error) {
        if (!isTransient(error)) throw error;
        ended = false;
        if (++failed % REOPENS_AFTER === 0) {
          await this.#opened?.close();
          this.#opened = undefined;
        }
      }
    }
  }

  #open(): Promise<OpenEventStore> {
    const environment = { ...this.environment, EVENT_STORE: 'redis' };
    const { config } = readConfig(environment, { authentication: false });
    return openEvents(config!, pino({ level: 'silent' }), { createsId: false });
  }

  /** Resolves with whether there is more. */
  async #readPage(bucket: number): Promise<boolean> {
    const followed = this.#buckets.get(bucket) ?? { trail: [FEED_BEGINNING], entries: [] };
    this.#buckets.set(bucket, followed);
    const result = await this.#opened!.feed!.read(bucket, followed.trail, 100);
    if (result.status === 'trimmed') throw new Error('the feed was trimmed');
    if (result.status === 'read') {
      for (const entry of result.entries) {
        followed.entries.push(entry);
        followed.trail = withPosition(followed.trail, positionOf(entry));
      }
      return result.more;
    }
    this.#resets.push(performance.now());
    const shared = result.shared ?? FEED_BEGINNING;
    followed.trail = [shared];
    followed.entries = followed.entries.filter((entry) => entry.sequence <= shared.sequence);
    return true;
  }

  /** What was processed of a user and is not stored, or not in this order; or is stored and was skipped. */
  problems(user: string, stored: readonly StreamEntry[]): string[] {
    const stream = plantsOf(user);
    const commits = stored.map(([id, [, , , , , commit]]) => ({
      version: parseInt(id, 10),
      commit: commit!,
    }));
    const expected = commits
      .filter(({ commit }, index) => commits[index + 1]?.commit !== commit)
      .map(({ version, commit }) => `${version} ${commit}`);
    const processed = [...this.#buckets.values()]
      .flatMap(({ entries }) => entries)
      .filter((entry) => entry.stream === stream)
      .map(({ version, commit }) => `${version} ${commit}`);
    const at = processed.findIndex((each, index) => each !== expected[index]);
    if (at < 0 && processed.length === expected.length) return [];
    const index = at < 0 ? processed.length : at;
    return [
      `a consumer of the feed has processed ${processed.length} commits of ${user}, of which ${expected.length} are ` +
        `stored: number ${index + 1} is ${processed[index] ?? 'missing'}, and ${expected[index] ?? 'none'} is stored`,
    ];
  }

  /** The resets at times when nothing can have been lost. */
  falseResets(windows: readonly FaultWindow[]): string[] {
    return this.#resets
      .filter((at) => !windows.some(({ from, to, switched }) => switched && at >= from && at <= to))
      .map((at) => `at ${Math.round(at)} ms the feed had lost its end, without a failover or a restore`);
  }
}
