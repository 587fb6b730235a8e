import type { Command } from './command';
import { WrongUsage } from './exit';
import { shown } from './terminal';

export const tokenNew: Command = {
  name: 'token new',
  summary: 'make a token for a user',
  options: {
    user: { value: 'NAME', meaning: 'whom the token will speak for', required: true },
    note: {
      value: 'TEXT',
      meaning: 'what it is for, so that it can be told from others when it is to be revoked',
    },
    file: {
      value: 'PATH',
      meaning: 'the token file, made where there is none; by default what AUTH_TOKENS_FILE names',
    },
  },
  details: [
    'The token goes to standard output, once, and nowhere else; the file gets its SHA-256. A service that reads',
    'the file takes the token within a quarter of a second. Needs no event store.',
    '',
    '  plant-store token new --user alice --note laptop --file tokens.json',
  ],
  async run(args, { environment, newToken, terminal }) {
    const user = args.user();
    const note = args.text('note');
    const path = args.text('file') ?? environment['AUTH_TOKENS_FILE'];
    if (!path) throw new WrongUsage('say which file: --file, or AUTH_TOKENS_FILE');
    await terminal.stdout.line(await newToken(path, { user, ...(note === undefined ? {} : { note }) }));
    await terminal.stderr.line(
      `A token for ${shown(user)}, shown this once. A service that reads ${shown(path)} takes it from now on.`,
    );
    return 'done';
  },
};
