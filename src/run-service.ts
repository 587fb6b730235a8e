import type { Logger } from 'pino';
import { bootstrap } from './bootstrap';
import type { Config, Setting } from './config';
import { lifecycleLog, logFormat, openLog } from './log';
import { standardOutput } from './log-destination';
import { startEvent, startSentence, welcome } from './start-text';

/**
 * Runs the service until `asked` resolves. The exit code: 0 where it drained, 1 where requests were cut.
 * Rejects where it cannot start.
 */
export async function runService(
  config: Config,
  settings: readonly Setting[],
  asked: Promise<NodeJS.Signals>,
): Promise<number> {
  const log = await openLog(config);
  const lifecycle = lifecycleLog(log);
  process.once('uncaughtExceptionMonitor', (err) => log.fatal({ err }, 'a fault ends the process'));
  const service = await bootstrap(config, { log });
  // Without a token file to read again, SIGHUP ends the service: its default.
  if (service.reload) process.on('SIGHUP', service.reload);
  if (logFormat(config) === 'json')
    lifecycle.info(startEvent(service, config, settings), startSentence(service, config));
  else standardOutput().write(`${welcome(service, config)}\n`);
  logTheEnd(lifecycle);

  const signal = await asked;
  // An orchestrator goes on sending clients here until it has noticed; a person at a terminal does not want to wait.
  const noticeMs = signal === 'SIGTERM' ? config.SHUTDOWN_NOTICE_MS : 0;
  lifecycle.info({ signal, noticeMs, timeoutMs: config.SHUTDOWN_TIMEOUT_MS }, 'draining');
  return (await service.stop(noticeMs)) ? 0 : 1;
}

/** However the process ends; before the listener by which its standard output is flushed. */
function logTheEnd(log: Logger): void {
  process.prependOnceListener('exit', (exitCode) => {
    log.info({ exitCode, uptimeSeconds: Math.round(process.uptime()) }, 'ended');
  });
}
