import type { Logger } from 'pino';
import { tuneHeap } from '../adapters/system/heap';
import { flushSpans } from '../adapters/tracing';
import { bootstrap } from './bootstrap';
import type { Config, Setting } from './config';
import { lifecycleLog, logFormat, openLog } from './log';
import { standardOutput } from './standard-output';
import { startEvent, startSentence, welcome } from './start-text';

/**
 * Runs the service until `stopRequested` resolves. Resolves with the exit code: 0 after a complete drain, 1 if
 * requests were aborted. Rejects if the service cannot start.
 */
export async function runService(
  config: Config,
  settings: readonly Setting[],
  stopRequested: Promise<NodeJS.Signals>,
): Promise<number> {
  // docs/decisions/0035-growth-of-the-heap.md and 0036-every-object-begins-young.md
  tuneHeap();
  const log = await openLog(config);
  const lifecycle = lifecycleLog(log);
  process.once('uncaughtExceptionMonitor', (err) => log.fatal({ err }, 'a fault ends the process'));
  const json = logFormat(config) === 'json';
  const service = await bootstrap(config, { log, jsonDestination: json ? standardOutput() : undefined });
  // Without a token file, SIGHUP has its default action and ends the service.
  if (service.reload) process.on('SIGHUP', service.reload);
  if (json) lifecycle.info(startEvent(service, config, settings), startSentence(service, config));
  else standardOutput().write(`${welcome(service, config)}\n`);
  logEnd(lifecycle);

  const signal = await stopRequested;
  // An orchestrator sends clients here until it notices that readiness fails. A person at a terminal need not wait.
  const noticeMs =
    signal === 'SIGTERM' ? (config.SHUTDOWN_NOTICE_MS ?? Math.min(1000, config.SHUTDOWN_TIMEOUT_MS / 2)) : 0;
  lifecycle.info({ signal, noticeMs, timeoutMs: config.SHUTDOWN_TIMEOUT_MS }, 'draining');
  const exitCode = (await service.stop(noticeMs)) ? 0 : 1;
  // An exporter that waits for its collector would keep the process alive.
  if (!(await flushed(lifecycle))) process.exit(exitCode);
  return exitCode;
}

/** The exporter of an OpenTelemetry SDK has this time for the last spans. */
const FLUSH_MS = 2000;

/** Exports the last spans. Resolves with whether the exporter answered within {@link FLUSH_MS}. */
async function flushed(log: Logger): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(resolve, FLUSH_MS, false)));
  const failed = (err: unknown) => log.error({ err }, 'the last spans could not be exported');
  const answered = await Promise.race([
    flushSpans()
      .catch(failed)
      .then(() => true),
    late,
  ]);
  clearTimeout(timer);
  if (!answered) failed(new Error(`the exporter has not answered within ${FLUSH_MS} ms`));
  return answered;
}

/** Logs the end of the process, before the listener that flushes standard output. */
function logEnd(log: Logger): void {
  process.prependOnceListener('exit', (exitCode) => {
    log.info({ exitCode, uptimeSeconds: Math.round(process.uptime()) }, 'ended');
  });
}
