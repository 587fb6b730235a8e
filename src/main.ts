import { readConfig, settings } from './config';
import { configText, help, problemsText, startFailureText } from './start-text';

/** Runs the service to its end. 0 ended as asked; 1 could not start, or was cut off at the end; 2 bad configuration or usage. */
export async function serve(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(help());
    return 0;
  }
  if (args.some((arg) => arg !== '--check-config' && arg !== '--print-config')) {
    console.error('unknown argument: --help lists those there are');
    return 2;
  }
  const { config, problems } = readConfig(process.env);
  if (problems) {
    console.error(problemsText(problems));
    return 2;
  }
  if (args.includes('--print-config')) {
    console.log(configText(settings(process.env)));
    return 0;
  }
  if (args.includes('--check-config')) {
    console.log('The configuration is good.');
    return 0;
  }

  try {
    // Before the service logs that it listens: a signal may follow at once.
    const asked = askedToStop();
    // Only here: --help and a mistake in the configuration need not wait for all that it loads.
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- import() wants a file ending, which ts-node does not have
    const { runService } = require('./run-service') as typeof import('./run-service');
    return await runService(config, settings(process.env), asked);
  } catch (error) {
    console.error(startFailureText(error, config));
    return 1;
  }
}

/** Under npm one Ctrl-C arrives twice, from the terminal and from npm: so soon after the first it is the same one. */
const SAME_REQUEST_MS = 500;

/** SIGINT: Ctrl-C. SIGTERM: what orchestrators send. Asked a second time, the process ends at once. */
async function askedToStop(): Promise<NodeJS.Signals> {
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

// Not where it is a command among others, see cli.ts.
if (require.main === module) {
  void serve(process.argv.slice(2)).then((code) => {
    process.exitCode = code;
  });
}
