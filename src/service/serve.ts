import { tokenFileProblem } from '../adapters/auth/token-file';
import { readConfig, settings } from './config';
import { configText, help, problemsText, startFailureText } from './start-text';

/** Runs the service to its end. Resolves with the exit code: 0 stopped; 1 not started, or requests aborted; 2 wrong usage or configuration. */
export async function serve(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(help());
    return 0;
  }
  if (args.some((arg) => arg !== '--check-config' && arg !== '--print-config')) {
    console.error('unknown argument: --help lists the known ones');
    return 2;
  }
  const { config, problems } = readConfig(process.env, { tokenFileProblem });
  if (problems) {
    console.error(problemsText(problems));
    return 2;
  }
  if (args.includes('--print-config')) {
    console.log(configText(settings(process.env)));
    return 0;
  }
  if (args.includes('--check-config')) {
    console.log('The configuration is valid.');
    return 0;
  }

  try {
    // Before the service logs that it listens: a signal may follow at once.
    const stopRequested = stopRequest();
    // Loaded here, so that --help and problems of the configuration do not wait for it.
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- import() wants a file ending, which ts-node does not have
    const { runService } = require('./run-service') as typeof import('./run-service');
    return await runService(config, settings(process.env), stopRequested);
  } catch (error) {
    console.error(startFailureText(error, config));
    return 1;
  }
}

/** Within this time a second signal counts as the first: under npm one Ctrl-C arrives twice, from the terminal and from npm. */
const SAME_REQUEST_MS = 500;

/** Resolves at SIGINT (Ctrl-C) or SIGTERM (from orchestrators). At a second one the process exits at once. */
async function stopRequest(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let since: number | undefined;
    const stop = (signal: NodeJS.Signals) => {
      since ??= performance.now();
      if (performance.now() - since > SAME_REQUEST_MS) process.exit(1);
      resolve(signal);
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}
