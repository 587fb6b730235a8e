import { createHash } from 'node:crypto';
import { type Logger, pino } from 'pino';
import type { RequestReport } from './adapters/http';
import { type CollectionObserver, OutcomeUnknown, StoreUnavailable, UnreadableHistory } from './application';

/** What `readConfig` says of the log. */
export interface LogOptions {
  readonly LOG_LEVEL: string;
  readonly LOG_FORMAT: 'json' | 'pretty' | undefined;
}

/** Writes to stdout: for people on a terminal, one JSON object a line elsewhere, unless told otherwise. */
export async function openLog({ LOG_LEVEL: level, LOG_FORMAT }: LogOptions): Promise<Logger> {
  const format = LOG_FORMAT ?? (process.stdout.isTTY ? 'pretty' : 'json');
  if (format === 'json') return pino({ level });
  const { default: pretty } = await import('pino-pretty');
  return pino(
    { level },
    pretty({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l', singleLine: true, sync: true }),
  );
}

/** What a user, and the stream that bears his name, is called in the log: the same always, and not his name. */
export type UserNames = (user: string) => string;

const REMEMBERED = 10_000;

/** The first 12 hexadecimal digits of the SHA-256 of the name; remembered, up to a bound. */
export function userNames(): UserNames {
  const known = new Map<string, string>();
  return (user) => {
    let name = known.get(user);
    if (name === undefined) {
      name = createHash('sha256').update(user).digest('hex').slice(0, 12);
      if (known.size >= REMEMBERED) known.clear();
      known.set(user, name);
    }
    return name;
  };
}

/** One line a request. Below `info` a request costs nothing here, but for those that the service failed. */
export function logRequests(log: Logger, nameOf: UserNames): (request: RequestReport) => void {
  return (request) => {
    const { error, status } = request;
    if (error === undefined && !log.isLevelEnabled('info')) return;
    const { user, ...rest } = request;
    const line = { ...rest, user: user && nameOf(user), error: undefined, err: error };
    if (error === undefined) log.info(line, 'request');
    else if (status === 503) log.warn(line, 'request');
    else log.error(line, 'request');
  };
}

/** What somebody has to know, or mend, where it happens. */
export function logCollections(log: Logger, nameOf: UserNames): CollectionObserver {
  return {
    historyLost: (stream, known) =>
      log.error(
        { user: nameOf(stream), version: known.version },
        'the event store lost history that was served before; starting over from what it has',
      ),
    loading: (stream, version) =>
      log.info(
        { user: nameOf(stream), version },
        'loading a long history; requests for it may get 503 meanwhile',
      ),
    tooLarge: (stream, limit) =>
      log.error(
        { user: nameOf(stream), limit },
        'the plants of a user take more memory than this instance may use; raise CACHE_MAX_BYTES, and --max-old-space-size in NODE_OPTIONS with it',
      ),
    fault(stream, error) {
      // A store that is away shows in every request that it fails. What somebody has to mend is told where it happens.
      const passing = error instanceof OutcomeUnknown || error instanceof StoreUnavailable;
      if (!passing || error instanceof UnreadableHistory)
        log.error({ user: nameOf(stream), err: error }, 'a round failed');
    },
  };
}
