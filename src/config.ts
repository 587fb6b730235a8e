import { MIN_SECRET_LENGTH } from './adapters/auth/jwt-keys';
import { readTokens } from './adapters/auth/token-file';
import { BrokenTokenFile } from './adapters/auth/token-file-format';
import { type User, USER_RULE, parseUser } from './application';

/** One thing that is wrong: the variable, the rule it breaks, and what to write instead. Never quotes a value. */
export interface ConfigProblem {
  readonly variable: string;
  readonly rule: string;
  readonly fix: string;
}

interface Variable<T> {
  /** For people; with range and unit. */
  readonly meaning: string;
  /** As it would be written; absent where the variable is unset by default. */
  readonly fallback?: string;
  readonly parse: (text: string) => T;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Everything the service can be told from outside: the one list that reading,
 * `--help` and the README's table come from.
 */
const VARIABLES = {
  HOST: withDefault('127.0.0.1', 'address to listen on', text),
  PORT: withDefault('3000', 'port to listen on, 0 … 65535; 0 picks a free one', integer(0, 65_535)),
  EVENT_STORE: withDefault('memory', '`memory` (lost at exit) or `redis`', oneOf('memory', 'redis')),
  REDIS_URL: withDefault(
    'redis://127.0.0.1:6379',
    '`redis://` or `rediss://` (TLS), with user, password, db',
    redisUrl,
  ),
  REDIS_CLUSTER_NODES: optional('`host:port,host:port` … of a Redis Cluster', addresses),
  REDIS_SENTINELS: optional('`host:port,host:port` … of the Sentinels', addresses),
  REDIS_SENTINEL_MASTER: optional('name under which the Sentinels know the primary', text),
  REDIS_KEY_PREFIX: withDefault(
    'plant-store',
    'what the keys begin with: letters, digits, `. _ : -`',
    keyPrefix,
  ),
  REDIS_WAIT_REPLICAS: withDefault(
    '0',
    'replicas that must hold a write before it is acknowledged, 0 … 16',
    integer(0, 16),
  ),
  AUTH_TOKENS: optional('`user:token,user:token` …, for development and tests', tokens),
  AUTH_TOKENS_FILE: optional(
    'JSON file of users and the SHA-256 of their tokens; read again when it changes',
    tokensFile,
  ),
  AUTH_JWKS_URL: optional('where the issuer of signed JWTs publishes its keys', jwksUrl),
  AUTH_JWT_SECRET: optional('instead of it: the secret shared with the issuer, at least 32 bytes', jwtSecret),
  AUTH_JWT_ISSUER: optional('`iss` that a JWT must have', text),
  AUTH_JWT_AUDIENCE: optional('`aud` that a JWT must have; its `sub` is the user', text),
  MAX_CONNECTIONS: withDefault(
    '4096',
    'connections at a time; more are refused, 1 … 1000000',
    integer(1, 1_000_000),
  ),
  BODY_LIMIT: withDefault('65536', 'largest request body, in bytes, 1 … 16777216', integer(1, 16_777_216)),
  REQUEST_TIMEOUT_MS: withDefault(
    '15000',
    'within how long a request must have arrived, and a client go on reading, in ms, 100 … 3600000',
    integer(100, 3_600_000),
  ),
  STORE_TIMEOUT_MS: withDefault(
    '2000',
    'within how long the event store must have answered, in ms, 50 … 60000',
    integer(50, 60_000),
  ),
  SHUTDOWN_NOTICE_MS: withDefault(
    '1000',
    'how long new connections are still taken after SIGTERM, readiness failing, in ms, 0 … 600000',
    integer(0, 600_000),
  ),
  SHUTDOWN_TIMEOUT_MS: withDefault(
    '20000',
    'how long accepted requests may take at the end, in ms, 0 … 3600000',
    integer(0, 3_600_000),
  ),
  CACHE_MAX_PLANTS: withDefault(
    '1000000',
    'plants kept in memory between requests, 0 … 1000000000',
    integer(0, 1_000_000_000),
  ),
  LOG_LEVEL: withDefault(
    'info',
    '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  ),
};

/** The configuration, typed and checked, each value under its variable's name. */
export type Config = {
  readonly [Name in keyof typeof VARIABLES]: ReturnType<(typeof VARIABLES)[Name]['parse']> extends infer T
    ? (typeof VARIABLES)[Name] extends { fallback: string }
      ? T
      : T | undefined
    : never;
} & { readonly production: boolean };

export const variables: readonly (Variable<unknown> & { readonly name: string })[] = Object.entries(
  VARIABLES,
).map(([name, variable]) => ({ name, ...variable }));

/** Reads the environment. All that is wrong is told at once. */
export function readConfig(
  environment: Environment,
):
  | { readonly config: Config; readonly problems?: undefined }
  | { readonly config?: undefined; readonly problems: readonly ConfigProblem[] } {
  const problems = unknownVariables(environment);
  const values: Record<string, unknown> = { production: environment['NODE_ENV'] === 'production' };
  for (const { name, fallback, parse } of variables) {
    // Empty counts as unset: so compose files and `docker run -e NAME=` leave a variable they were given nothing for.
    const written = environment[name] || fallback;
    if (written === undefined) continue;
    try {
      values[name] = parse(written);
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      problems.push({ variable: name, rule: error.message, fix: error.fix });
    }
  }
  const config = values as Config;
  // Where a value is broken, or its name, the rules about its like would only complain that it is missing.
  const family = ({ variable }: ConfigProblem) => variable.split('_', 1)[0];
  const broken = new Set(problems.map(family));
  problems.push(...rules(config).filter((problem) => !broken.has(family(problem))));
  return problems.length > 0 ? { problems } : { config };
}

/** Whether there is any way for a caller to say who he is. */
export function authenticates(config: Config): boolean {
  return config.AUTH_TOKENS !== undefined || config.AUTH_TOKENS_FILE !== undefined || signedTokens(config);
}

function signedTokens({ AUTH_JWKS_URL, AUTH_JWT_SECRET }: Config): boolean {
  return AUTH_JWKS_URL !== undefined || AUTH_JWT_SECRET !== undefined;
}

/** What no variable can break alone. */
function rules(config: Config): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const refuse = (variable: string, rule: string, fix: string) => problems.push({ variable, rule, fix });

  if (!authenticates(config) && (config.EVENT_STORE === 'redis' || config.production)) {
    const where = config.production ? 'with NODE_ENV=production' : 'with EVENT_STORE=redis';
    refuse(
      'AUTH_TOKENS',
      `or AUTH_TOKENS_FILE, AUTH_JWKS_URL or AUTH_JWT_SECRET is required ${where}: nobody could be told from anybody else`,
      'set AUTH_TOKENS=alice:<a long random token>, or one of the others',
    );
  }
  if (config.AUTH_JWKS_URL && config.AUTH_JWT_SECRET) {
    refuse('AUTH_JWT_SECRET', 'cannot go with AUTH_JWKS_URL', 'unset one of the two');
  }
  for (const name of ['AUTH_JWT_ISSUER', 'AUTH_JWT_AUDIENCE'] as const) {
    if (signedTokens(config) && config[name] === undefined) {
      refuse(
        name,
        'is required with AUTH_JWKS_URL and AUTH_JWT_SECRET: tokens made by or for others would be taken',
        `set it to what the tokens have as ${name === 'AUTH_JWT_ISSUER' ? 'iss' : 'aud'}`,
      );
    }
    if (!signedTokens(config) && config[name] !== undefined) {
      refuse(name, 'does nothing without AUTH_JWKS_URL or AUTH_JWT_SECRET', 'set one of them, or unset it');
    }
  }
  if (config.REDIS_CLUSTER_NODES && config.REDIS_SENTINELS) {
    refuse('REDIS_SENTINELS', 'cannot go with REDIS_CLUSTER_NODES', 'unset one of the two');
  }
  if ((config.REDIS_SENTINELS === undefined) !== (config.REDIS_SENTINEL_MASTER === undefined)) {
    refuse('REDIS_SENTINEL_MASTER', 'goes with REDIS_SENTINELS, and they with it', 'set both or neither');
  }
  if (config.REDIS_CLUSTER_NODES && config.REDIS_WAIT_REPLICAS > 0) {
    refuse(
      'REDIS_WAIT_REPLICAS',
      'cannot go with REDIS_CLUSTER_NODES: WAIT names no key, so it cannot be sent to the right node',
      'set it to 0, and min-replicas-to-write in Redis',
    );
  }
  return problems;
}

const OUR_PREFIX = /^(?:AUTH|REDIS|EVENT|STORE|CACHE|SHUTDOWN|BODY|REQUEST|LOG|MAX)_/;
// What Kubernetes and Docker links put into every container for a service that happens to be called "redis" (or
// "auth", …), and the image that the tests are told to use.
const FOREIGN = /_SERVICE_HOST$|_SERVICE_PORT(?:_\w+)?$|_PORT(?:_\d+_(?:TCP|UDP)\w*)?$|_NAME$|^REDIS_IMAGE$/;

/** A name that begins like ours and is none of ours is most likely a slip, and would silently do nothing. */
function unknownVariables(environment: Environment): ConfigProblem[] {
  const known = variables.map(({ name }) => name);
  return Object.keys(environment)
    .filter((name) => OUR_PREFIX.test(name) && !FOREIGN.test(name) && !known.includes(name))
    .map((name) => ({
      variable: name,
      rule: 'is not a variable of this service',
      fix: `did you mean ${nearest(name, known)}? If not, unset it`,
    }));
}

function nearest(name: string, known: readonly string[]): string {
  const common = (other: string) => {
    let length = 0;
    while (length < name.length && name[length] === other[length]) length++;
    return length - Math.abs(name.length - other.length) / 100;
  };
  return known.reduce((best, other) => (common(other) > common(best) ? other : best));
}

/** A value that breaks its variable's rule. */
class Broken extends Error {
  constructor(
    rule: string,
    readonly fix: string,
  ) {
    super(rule);
  }
}

function withDefault<T>(fallback: string, meaning: string, parse: (text: string) => T) {
  return { fallback, meaning, parse };
}

function optional<T>(meaning: string, parse: (text: string) => T) {
  return { meaning, parse };
}

function text(written: string): string {
  return written;
}

function integer(least: number, most: number) {
  return (written: string): number => {
    const value = Number(written);
    if (!/^[0-9]+$/.test(written) || value < least || value > most) {
      throw new Broken(
        `must be a whole number from ${least} to ${most}`,
        `write decimal digits only, ${least} … ${most}`,
      );
    }
    return value;
  };
}

function oneOf<T extends string>(...allowed: readonly T[]) {
  return (written: string): T => {
    const found = allowed.find((value) => value === written);
    if (found === undefined)
      throw new Broken(`must be one of: ${allowed.join(', ')}`, `write ${allowed[0]!}, say`);
    return found;
  };
}

function redisUrl(written: string): string {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (
    url === undefined ||
    !/^rediss?:$/.test(url.protocol) ||
    url.hostname === '' ||
    !/^(?:\/[0-9]*)?$/.test(url.pathname)
  ) {
    throw new Broken(
      'must be redis://[user:password@]host[:port][/db], or rediss:// for TLS',
      'write redis://127.0.0.1:6379, say; escape odd characters in a password as %XX',
    );
  }
  return written;
}

function addresses(written: string): readonly { readonly host: string; readonly port: number }[] {
  return written.split(',').map((address, index) => {
    const [, host, port] =
      /^\s*(?:\[([^\]]+)\]|([^:\s]+)):([0-9]{1,5})\s*$/.exec(address)?.filter(Boolean) ?? [];
    if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
      throw new Broken(
        `entry ${index + 1}: must be host:port`,
        'write host:port,host:port; an IPv6 host in brackets',
      );
    }
    return { host, port: Number(port) };
  });
}

function keyPrefix(written: string): string {
  if (!/^[\w.:-]{1,100}$/.test(written)) {
    throw new Broken('must be 1 to 100 letters, digits and . _ : -', 'write plant-store, say');
  }
  return written;
}

const TOKEN68 = /^[A-Za-z0-9\-._~+/]+=*$/;

/** Token → user. A user's name may hold colons, since a token cannot; neither may hold a comma. */
function tokens(written: string): ReadonlyMap<string, User> {
  const users = new Map<string, User>();
  written.split(',').forEach((pair, index) => {
    const where = `entry ${index + 1}`;
    const colon = pair.lastIndexOf(':');
    const user = parseUser(pair.slice(0, Math.max(colon, 0)).trim());
    const token = pair.slice(colon + 1).trim();
    if (colon === -1 || user === undefined) {
      throw new Broken(`${where}: must be user:token, the user ${USER_RULE}`, 'write user:token,user:token');
    }
    if (!TOKEN68.test(token)) {
      throw new Broken(
        `${where}: the token may hold only letters, digits and - . _ ~ + /, with = at its end`,
        'make one with: openssl rand -hex 32',
      );
    }
    if (users.has(token))
      throw new Broken(`${where}: the token is given twice`, 'give every token to one user only');
    users.set(token, user);
  });
  return users;
}

/** Read here once, so that what is wrong with it is told with everything else. */
function tokensFile(path: string): string {
  try {
    readTokens(path);
  } catch (error) {
    if (!(error instanceof BrokenTokenFile)) throw error;
    throw new Broken(
      `names a file that cannot be used: ${error.message}`,
      'mend the file, or make one: npm run token -- new --user alice --file <path>',
    );
  }
  return path;
}

const LOOPBACK = /^(?:localhost|127(?:\.[0-9]+){3}|\[::1\])$/;

function jwksUrl(written: string): URL {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname));
  if (url === undefined || !safe || url.username !== '' || url.password !== '') {
    throw new Broken(
      'must be an https URL without user and password: whoever changed the keys on their way could be anybody',
      'write https://…; plain http only to this machine itself',
    );
  }
  return url;
}

function jwtSecret(written: string): Uint8Array {
  const secret = Buffer.from(written);
  if (secret.length < MIN_SECRET_LENGTH) {
    throw new Broken(`must be at least ${MIN_SECRET_LENGTH} bytes`, 'make one with: openssl rand -base64 48');
  }
  return secret;
}
