import { MIN_SECRET_LENGTH } from '../../adapters/auth/jwt-keys';
import { type User, USER_RULE, parseUser } from '../../application';

/** Thrown by every parser here for a value that breaks its variable's rule. */
export class InvalidValue extends Error {
  constructor(
    rule: string,
    readonly fix: string,
  ) {
    super(rule);
  }
}

export function text(written: string): string {
  return written;
}

export function integer(least: number, most: number) {
  return (written: string): number => {
    const value = Number(written);
    if (!/^[0-9]+$/.test(written) || value < least || value > most) {
      throw new InvalidValue(
        `must be a whole number from ${least} to ${most}`,
        `write decimal digits only, ${least} … ${most}`,
      );
    }
    return value;
  };
}

export function oneOf<T extends string>(...allowed: readonly T[]) {
  return (written: string): T => {
    const found = allowed.find((value) => value === written);
    if (found === undefined)
      throw new InvalidValue(`must be one of: ${allowed.join(', ')}`, `write ${allowed[0]!}, for example`);
    return found;
  };
}

/** The path of a module, absolute or relative to the working directory. */
export type ModulePath = `${'./' | '../' | '/'}${string}`;

export function eventStore(written: string): 'memory' | 'redis' | ModulePath {
  if (written === 'memory' || written === 'redis' || isModulePath(written)) return written;
  throw new InvalidValue(
    'must be memory, redis, or the path of a module, which begins with ./, ../ or /',
    'write redis or ./my-store.js, for example',
  );
}

function isModulePath(written: string): written is ModulePath {
  return /^(?:\.{1,2})?\/./s.test(written);
}

export function redisUrl(written: string): string {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (
    url === undefined ||
    !['redis:', 'rediss:'].includes(url.protocol) ||
    url.hostname === '' ||
    !/^(?:\/[0-9]*)?$/.test(url.pathname)
  ) {
    throw new InvalidValue(
      'must be redis://[user:password@]host[:port][/db], or rediss:// for TLS',
      'write redis://127.0.0.1:6379, for example; escape special characters in a password as %XX',
    );
  }
  return written;
}

export function addresses(written: string): readonly { readonly host: string; readonly port: number }[] {
  return written.split(',').map((address, index) => {
    const match = /^\s*(?:\[([^\]]+)\]|([^:\s]+)):([0-9]{1,5})\s*$/.exec(address);
    const host = match?.[1] ?? match?.[2];
    const port = Number(match?.[3]);
    if (host === undefined || port < 1 || port > 65_535) {
      throw new InvalidValue(
        `entry ${index + 1}: must be host:port`,
        'write host:port,host:port; an IPv6 host in brackets',
      );
    }
    return { host, port };
  });
}

export function origins(written: string): readonly string[] {
  const listed = written.split(',').map((origin) => origin.trim());
  const wrong = listed.findIndex((each) => !URL.canParse(each) || new URL(each).origin !== each);
  if (wrong !== -1 && written !== '*') {
    throw new InvalidValue(
      `entry ${wrong + 1}: must be an origin, as a browser sends it: scheme, host, and a port that is not the default`,
      'write https://garden.example, for example, without a path or a slash at the end; or * for all origins',
    );
  }
  return listed;
}

export function keyPrefix(written: string): string {
  if (!/^[\w.:-]{1,100}$/.test(written)) {
    throw new InvalidValue('must be 1 to 100 letters, digits and . _ : -', 'write plant-store, for example');
  }
  return written;
}

export function uuid(written: string): string {
  const id = written.toLowerCase();
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))
    throw new InvalidValue('must be a UUID', 'write the id that plant-store events store-id prints');
  return id;
}

const TOKEN68 = /^[A-Za-z0-9\-._~+/]+=*$/;

/** Token → user. A user's name may contain colons, since a token cannot; neither may contain a comma. */
export function tokens(written: string): ReadonlyMap<string, User> {
  const users = new Map<string, User>();
  written.split(',').forEach((pair, index) => {
    const where = `entry ${index + 1}`;
    const colon = pair.lastIndexOf(':');
    const user = parseUser(pair.slice(0, Math.max(colon, 0)).trim());
    const token = pair.slice(colon + 1).trim();
    if (user === undefined) {
      throw new InvalidValue(
        `${where}: must be user:token, the user ${USER_RULE}`,
        'write user:token,user:token',
      );
    }
    if (!TOKEN68.test(token)) {
      throw new InvalidValue(
        `${where}: the token may contain only letters, digits and - . _ ~ + /, with = at its end`,
        'make one with: openssl rand -hex 32',
      );
    }
    if (users.has(token))
      throw new InvalidValue(`${where}: the token is given twice`, 'give each token to one user only');
    users.set(token, user);
  });
  return users;
}

const LOOPBACK = /^(?:localhost|127(?:\.[0-9]+){3}|\[::1\])$/;

export function jwksUrl(written: string): URL {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname));
  if (!url || !safe || url.username !== '' || url.password !== '') {
    throw new InvalidValue(
      'must be an https URL without user and password: plain http lets an attacker replace the keys',
      'write https://…; plain http only to this machine itself',
    );
  }
  return url;
}

export function jwtSecret(written: string): Uint8Array {
  const secret = Buffer.from(written);
  if (secret.length < MIN_SECRET_LENGTH) {
    throw new InvalidValue(
      `must be at least ${MIN_SECRET_LENGTH} bytes`,
      'make one with: openssl rand -base64 48',
    );
  }
  return secret;
}
