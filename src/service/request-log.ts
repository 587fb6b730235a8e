import type { Logger } from 'pino';
import type { RequestReport } from '../adapters/http';
import type { Clock } from '../event-sourcing';
import { type UserNames, causeOf } from './log';
import { type RequestLine, RequestLines } from './request-lines';
import type { LogDestination } from './log-destination';

/** How long further failures for one reason are counted and not logged at `warn`. */
const REPEATED_MS = 1000;

/** Requests of orchestrators and of Prometheus: every few seconds, and the same each time. */
const PROBES: ReadonlySet<string | undefined> = new Set(['/health/live', '/health/ready', '/metrics']);

interface RequestLog {
  report(request: RequestReport): void;
  /** Logs the failures that were counted and not logged yet. */
  close(): void;
}

/**
 * Logs one line per request. Nothing is done for a request below the level in force, unless the service failed it.
 * A 503 has its cause and no stack. It is at `warn` if it is the first for its reason; further ones within a second are
 * at `info`, and counted at `warn`.
 *
 * @param destination of `log`, where that writes JSON to it: requests are then written from templates.
 */
export function logRequests(
  log: Logger,
  nameOf: UserNames,
  clock: Clock,
  destination?: LogDestination,
): RequestLog {
  const lines = destination && new RequestLines(log, destination);
  const repeated = new RepeatedFailures(clock, (failures, latest) =>
    log.warn({ status: 503, failures, ...latest }, 'more requests failed'),
  );
  return {
    report(request) {
      const { requestId, method, route, durationMs, status, errorNumber, reason, error, traceparent } =
        request;
      const level = levelOf(request);
      if (error === undefined && !log.isLevelEnabled(level)) return;
      const user = request.user && nameOf(request.user);
      const line: RequestLine = {
        requestId,
        method,
        route,
        durationMs: durationMs && inMicroseconds(durationMs),
        status,
        error: errorNumber,
        reason,
        cause: status === 503 && error !== undefined ? causeOf(error) : undefined,
        user,
        ...(traceparent && traceOf(traceparent)),
      };
      if (error !== undefined && status !== 503) log.error({ ...line, err: error }, 'request');
      else if (error !== undefined && repeated.isFirst(line)) log.warn(line, 'request');
      else if (level === 'info' && lines && log.isLevelEnabled(level)) lines.write(line);
      else log[level](line, 'request');
    },
    close: () => repeated.close(),
  };
}

function levelOf({ route }: RequestReport): 'debug' | 'info' {
  return PROBES.has(route) ? 'debug' : 'info';
}

/** In milliseconds, without digits that mean nothing. */
function inMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** @param traceparent well-formed. */
function traceOf(traceparent: string) {
  const [, trace_id, span_id] = traceparent.split('-');
  return { traceparent, trace_id, span_id };
}

type FailureCause = Pick<RequestLine, 'reason' | 'cause'>;

/** Distinguishes the first failure for a reason from those that follow, and counts those. */
class RepeatedFailures {
  readonly #reasons = new Map<
    string | undefined,
    { failures: number; latest: FailureCause; cancel: () => void }
  >();

  constructor(
    private readonly clock: Clock,
    private readonly log: (failures: number, latest: FailureCause) => void,
  ) {}

  isFirst({ reason, cause }: FailureCause): boolean {
    const known = this.#reasons.get(reason);
    const latest = { reason, cause };
    if (known === undefined) {
      this.#reasons.set(reason, { failures: 0, latest, cancel: this.#logLater(reason) });
      return true;
    }
    known.failures++;
    known.latest = latest;
    return false;
  }

  close(): void {
    for (const [reason, { cancel }] of this.#reasons) {
      cancel();
      this.#logCounted(reason);
    }
    this.#reasons.clear();
  }

  #logLater(reason: string | undefined): () => void {
    return this.clock.after(REPEATED_MS, () => {
      if (!this.#logCounted(reason)) this.#reasons.delete(reason);
      else this.#reasons.get(reason)!.cancel = this.#logLater(reason);
    });
  }

  /** False if there were none. */
  #logCounted(reason: string | undefined): boolean {
    const counted = this.#reasons.get(reason)!;
    if (counted.failures === 0) return false;
    this.log(counted.failures, counted.latest);
    counted.failures = 0;
    return true;
  }
}
