import type { ConfigProblem } from './problem';
import type { Config } from './variables';

/** Whether any way to authenticate callers is configured. */
export function authenticates(config: Config): boolean {
  return config.AUTH_TOKENS !== undefined || config.AUTH_TOKENS_FILE !== undefined || signedTokens(config);
}

function signedTokens({ AUTH_JWKS_URL, AUTH_JWT_SECRET }: Config): boolean {
  return AUTH_JWKS_URL !== undefined || AUTH_JWT_SECRET !== undefined;
}

/** The rules about several variables. */
export function rules(config: Config): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const refuse = (variable: string, rule: string, fix: string) => problems.push({ variable, rule, fix });

  // It is undefined if it is invalid, which is a problem of its own.
  const outlivesProcess = !['memory', undefined].includes(config.EVENT_STORE);
  if (!authenticates(config) && (outlivesProcess || config.production)) {
    const where = config.production ? 'with NODE_ENV=production' : 'unless EVENT_STORE is memory';
    refuse(
      'AUTH_TOKENS',
      `or AUTH_TOKENS_FILE, AUTH_JWKS_URL or AUTH_JWT_SECRET is required ${where}: callers must be authenticated`,
      'set AUTH_TOKENS=alice:<a long random token>, or one of the others',
    );
  }
  if (config.ADMIN_PORT && config.ADMIN_PORT === config.PORT) {
    refuse('ADMIN_PORT', 'must differ from PORT', 'set it to another port, or unset it');
  }
  if (config.AUTH_JWKS_URL && config.AUTH_JWT_SECRET) {
    refuse('AUTH_JWT_SECRET', 'cannot go with AUTH_JWKS_URL', 'unset one of the two');
  }
  for (const name of ['AUTH_JWT_ISSUER', 'AUTH_JWT_AUDIENCE'] as const) {
    if (signedTokens(config) && config[name] === undefined) {
      refuse(
        name,
        'is required with AUTH_JWKS_URL and AUTH_JWT_SECRET: tokens by or for others would be accepted',
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
    refuse('REDIS_SENTINEL_MASTER', 'and REDIS_SENTINELS go together', 'set both or neither');
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
