import type { Logger } from 'pino';
import type { RequestReport } from '../adapters/http';
import type { Clock } from '../event-sourcing';
import { type UserNames, reasonOf } from './log';
import { type RequestLine, RequestLines } from './request-lines';
import type { LogDestination } from './log-destination';

/** How long further failures of one kind are counted and not logged. */
const REPEATED_MS = 1000;

/** Requests of orchestrators and of Prometheus: every few seconds, and the same each time. */
const PROBES: ReadonlySet<string | undefined> = new Set(['/health/live', '/health/ready', '/metrics']);

export interface RequestLog {
  report(request: RequestReport): void;
  /** Logs the failures that were counted and not logged yet. */
  close(): void;
}

/**
 * Logs one line per request. Nothing is done for a request below the level in force, unless the service failed it.
 * A 503 has its reason and no stack; further ones of its kind within a second are at `debug`, and counted.
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
  const repeated = new RepeatedFailures(clock, (failures, reason) =>
    log.warn({ status: 503, failures, reason }, 'more requests failed'),
  );
  return {
    report(request) {
      const { requestId, method, route, durationMs, status, error, traceparent } = request;
      const level = levelOf(request);
      if (error === undefined && !log.isLevelEnabled(level)) return;
      const user = request.user && nameOf(request.user);
      const line: RequestLine = {
        requestId,
        method,
        route,
        durationMs: durationMs && inMicroseconds(durationMs),
        status,
        user,
        ...(traceparent && traceOf(traceparent)),
      };
      if (error === undefined && level === 'info' && lines) lines.write(line);
      else if (error === undefined) log[level](line, 'request');
      else if (status !== 503) log.error({ ...line, err: error }, 'request');
      else if (repeated.isFirst(error)) log.warn({ ...line, reason: reasonOf(error) }, 'request');
      else if (log.isLevelEnabled('debug')) log.debug({ ...line, reason: reasonOf(error) }, 'request');
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

/** Distinguishes the first failure of a kind from those that follow, and counts those. */
class RepeatedFailures {
  readonly #kinds = new Map<string, { failures: number; latest: unknown; cancel: () => void }>();

  constructor(
    private readonly clock: Clock,
    private readonly log: (failures: number, reason: string) => void,
  ) {}

  isFirst(error: unknown): boolean {
    // The name of its class: a bounded set.
    const kind = error instanceof Error ? error.name : '';
    const known = this.#kinds.get(kind);
    if (known === undefined) {
      this.#kinds.set(kind, { failures: 0, latest: error, cancel: this.#logLater(kind) });
      return true;
    }
    known.failures++;
    known.latest = error;
    return false;
  }

  close(): void {
    for (const [kind, { cancel }] of this.#kinds) {
      cancel();
      this.#logCounted(kind);
    }
    this.#kinds.clear();
  }

  #logLater(kind: string): () => void {
    return this.clock.after(REPEATED_MS, () => {
      if (!this.#logCounted(kind)) this.#kinds.delete(kind);
      else this.#kinds.get(kind)!.cancel = this.#logLater(kind);
    });
  }

  /** False if there were none. */
  #logCounted(kind: string): boolean {
    const counted = this.#kinds.get(kind)!;
    if (counted.failures === 0) return false;
    this.log(counted.failures, reasonOf(counted.latest));
    counted.failures = 0;
    return true;
  }
}
