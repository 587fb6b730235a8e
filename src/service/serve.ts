import { tokenFileProblem } from '../adapters/auth/token-file';
import { unknown } from '../adapters/cli/nearest';
import { type Config, readConfig, settings } from './config';
import { configText, help, problemsText, startFailureText } from './start-text';

const OPTIONS = ['--help', '--check-config', '--print-config'];

/** Runs the service to its end. Resolves with the exit code: 0 stopped; 1 not started, or requests aborted; 2 wrong usage or configuration. */
export async function runServe(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(help());
    return 0;
  }
  const wrong = args.find((arg) => !OPTIONS.includes(arg));
  if (wrong !== undefined) {
    console.error(`${unknown('argument', wrong, OPTIONS)}\n\`--help\` lists all arguments.`);
    return 2;
  }
  const { config, problems } = readConfig(process.env, { tokenFileProblem });
  if (problems) {
    console.error(problemsText(problems));
    return 2;
  }
  const storeProblem = await problemOfStore(config.EVENT_STORE);
  if (storeProblem !== undefined) {
    console.error(`The configuration has a problem:\n  ${storeProblem}`);
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

/** Why the module that EVENT_STORE names cannot be loaded; `undefined` if it can, or if there is none. */
async function problemOfStore(eventStore: Config['EVENT_STORE']): Promise<string | undefined> {
  if (eventStore === 'memory' || eventStore === 'redis') return undefined;
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- see above
  const { checkStoreModule } = require('./store-module') as typeof import('./store-module');
  return checkStoreModule(eventStore).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  );
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
