// Makes a token for a user of AUTH_TOKENS_FILE: npm run token -- new --user alice
// The token goes to standard output, once, and nowhere else; everything said about it to standard error.
import { parseArgs } from 'node:util';
import { TokenFileBusy, addToken } from '../src/adapters/auth/new-token';
import { BrokenTokenFile } from '../src/adapters/auth/token-file-format';
import { USER_RULE, parseUser } from '../src/application';

const USAGE = [
  'usage: npm run --silent token -- new --user NAME [--note TEXT] [--file PATH]',
  '  --user  whom the token will speak for',
  '  --note  what it is for, so that it can be told from others when it is to be revoked',
  '  --file  the token file, made where there is none; by default what AUTH_TOKENS_FILE names',
].join('\n');

/** Exit codes as the service's: 0 done; 1 could not; 2 bad usage. */
async function main(args: string[]): Promise<number> {
  const asked = readArguments(args);
  if (typeof asked === 'string') {
    console.error(`${asked}\n\n${USAGE}`);
    return 2;
  }
  try {
    const { path, ...token } = asked;
    console.log(await addToken(path, token));
    console.error(
      `A token for ${token.user}, shown this once. A service that reads ${path} takes it from now on.`,
    );
    return 0;
  } catch (error) {
    const told = error instanceof BrokenTokenFile || error instanceof TokenFileBusy;
    const reason = told ? error.message : `it cannot be written (${(error as NodeJS.ErrnoException).code})`;
    console.error(`no token was made, ${asked.path} is as it was: ${reason}`);
    return 1;
  }
}

function readArguments(args: string[]) {
  try {
    const options = { user: { type: 'string' }, note: { type: 'string' }, file: { type: 'string' } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (positionals.join(' ') !== 'new') return 'there is one thing to ask for: new';
    const user = values.user === undefined ? undefined : parseUser(values.user);
    if (user === undefined) return `--user must be ${USER_RULE}`;
    const path = values.file ?? process.env['AUTH_TOKENS_FILE'];
    if (!path) return 'say which file: --file, or AUTH_TOKENS_FILE';
    return { path, user, ...(values.note === undefined ? {} : { note: values.note }) };
  } catch (error) {
    return (error as Error).message;
  }
}

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
