import type { CliCommand } from './command';
import { WrongUsage } from './exit';
import { escapeForTerminal } from './terminal';

export const tokenNew: CliCommand = {
  name: 'token new',
  summary: 'create a token for a user',
  options: {
    user: { value: 'NAME', description: 'the user that the token identifies', required: true },
    note: {
      value: 'TEXT',
      description: 'its purpose, to find it in the file when it is to be revoked',
    },
    file: {
      value: 'PATH',
      description: 'the token file, created if missing; AUTH_TOKENS_FILE by default',
    },
  },
  details: [
    'Prints the token on standard output, once; the file stores only its SHA-256. A service that reads the file',
    'accepts the token within a quarter of a second. Needs no event store.',
    '',
    '  plant-store token new --user alice --note laptop --file tokens.json',
  ],
  async run(args, { environment, newToken, terminal }) {
    const user = args.user();
    const note = args.text('note');
    const path = args.text('file') ?? environment['AUTH_TOKENS_FILE'];
    if (!path) throw new WrongUsage('name the token file: --file, or AUTH_TOKENS_FILE');
    await terminal.stdout.line(await newToken(path, { user, ...(note === undefined ? {} : { note }) }));
    await terminal.stderr.line(
      `Created a token for ${escapeForTerminal(user)}; it is not shown again. A service that reads ${escapeForTerminal(path)} accepts it from now on.`,
    );
    return 'done';
  },
};
