import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { type Logger, pino } from 'pino';
import {
  type AggregateObserver,
  OutcomeUnknown,
  type SnapshotOutcome,
  type StreamName,
  isTransient,
  partsOf,
} from '../event-sourcing';
import type { LogDestination } from './log-destination';
import { standardOutput } from './standard-output';
import { packageVersion } from './version';

/** The configuration of the log, as `readConfig` returns it. */
interface LogOptions {
  readonly LOG_LEVEL: string;
  readonly LOG_FORMAT: 'json' | 'pretty' | undefined;
}

/** As configured; else pretty on a terminal, and JSON elsewhere. */
export function logFormat({ LOG_FORMAT }: Pick<LogOptions, 'LOG_FORMAT'>): 'json' | 'pretty' {
  return LOG_FORMAT ?? (process.stdout.isTTY ? 'pretty' : 'json');
}

/** Opens the log on `output`. Each line names the service and its version. */
export async function openLog(
  options: LogOptions,
  output: LogDestination = standardOutput(),
): Promise<Logger> {
  const { pid } = process;
  const base = { pid, hostname: hostname(), service: { name: 'plant-store', version: packageVersion() } };
  const log = pino({ level: options.LOG_LEVEL, base }, await formatted(options, output));
  output.recovered = (dropped) =>
    log.warn({ dropped }, 'log lines were dropped: standard output did not accept them');
  return log;
}

async function formatted(
  options: LogOptions,
  output: LogDestination,
): Promise<Pick<LogDestination, 'write' | 'flushSync'>> {
  if (logFormat(options) === 'json') return output;
  const { prettyFactory } = await import('pino-pretty');
  const format = prettyFactory({
    ignore: 'pid,hostname,service',
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
  });
  return { write: (line) => output.write(format(line)), flushSync: () => output.flushSync() };
}

/** The log for the events of start, signal and end, which appear at every level except `silent`. */
export function lifecycleLog(log: Logger): Logger {
  return log.level === 'silent' ? log : log.child({}, { level: 'info' });
}

/** Pseudonym of a user in the log: always the same, and not the name. */
export type UserNames = (user: string) => string;

const MAX_CACHED = 10_000;

/** The first 12 hexadecimal digits of the SHA-256 of the name; cached, up to a bound. */
export function userNames(): UserNames {
  const known = new Map<string, string>();
  return (user) => {
    let name = known.get(user);
    if (name === undefined) {
      name = createHash('sha256').update(user).digest('hex').slice(0, 12);
      if (known.size >= MAX_CACHED) known.clear();
      known.set(user, name);
    }
    return name;
  };
}

/** An error and its causes, on one line and without a stack. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const messages: string[] = [error.name];
  for (let each: unknown = error; each instanceof Error; each = each.cause) messages.push(each.message);
  return messages.join(': ');
}

const SNAPSHOT_LINES: Readonly<Record<SnapshotOutcome, string>> = {
  restored: 'restored a snapshot',
  saved: 'saved a snapshot',
  failed: 'a snapshot could not be loaded or saved',
  ignored: 'a snapshot cannot be used and is ignored; the history is replayed',
};

/** Logs what an operator has to know or repair. */
export function logAggregates(log: Logger, nameOf: UserNames, eventStore: string): AggregateObserver {
  /** Whether the last call for a snapshot failed: further failures are at `debug`. */
  let failing = false;
  const of = (stream: StreamName) => {
    const { category, id } = partsOf(stream);
    return { user: nameOf(id), category };
  };
  return {
    historyLost: (stream, known) =>
      log.error(
        { ...of(stream), version: known.version },
        'the event store lost history that was served before; starting over from what it has',
      ),
    loading: (stream, version) =>
      log.info({ ...of(stream), version }, 'loading a long history; requests for it may get 503 meanwhile'),
    snapshot(stream, outcome, cause) {
      const line = { ...of(stream), ...(cause === undefined ? {} : { reason: causeOf(cause) }) };
      const isRepeated = outcome === 'failed' && failing;
      if (outcome !== 'ignored') failing = outcome === 'failed';
      log[cause === undefined || isRepeated ? 'debug' : 'warn'](line, SNAPSHOT_LINES[outcome]);
    },
    tooLarge: (stream, limit) =>
      log.error(
        { ...of(stream), limit },
        'an aggregate takes more memory than this instance may use; raise CACHE_MAX_BYTES, and --max-old-space-size in NODE_OPTIONS with it',
      ),
    fault(stream, error) {
      // The request log reports an unavailable store. Here is logged what an operator has to repair.
      if (!(isTransient(error) || error instanceof OutcomeUnknown))
        log.error({ ...of(stream), eventStore, err: error }, 'a round failed');
    },
  };
}
