import type { ConfigProblem } from './problem';
import { type Config, variables } from './variables';

const IN_PRODUCTION = 'unless NODE_ENV is development, test or unset';

/** Whether any way to authenticate callers is configured. */
export function authenticates(config: Config): boolean {
  return config.AUTH_TOKENS !== undefined || config.AUTH_TOKENS_FILE !== undefined || signedTokens(config);
}

function signedTokens({ AUTH_JWKS_URL, AUTH_JWT_SECRET }: Config): boolean {
  return AUTH_JWKS_URL !== undefined || AUTH_JWT_SECRET !== undefined;
}

/** The rules about several variables. `isSet` says whether a variable has a value of its own, not its default. */
export function rules(config: Config, isSet: (name: string) => boolean): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const refuse = (variable: string, rule: string, fix: string) => problems.push({ variable, rule, fix });

  for (const { name, needs } of variables) {
    if (needs && isSet(name) && !needs.isMet(config))
      problems.push({
        variable: name,
        rule: `does nothing without ${needs.what}`,
        fix: `set ${needs.what}, or unset ${name}`,
        about: needs.variable,
      });
  }
  // It is undefined if it is invalid, which is a problem of its own.
  const outlivesProcess = !['memory', undefined].includes(config.EVENT_STORE);
  if (!authenticates(config) && (outlivesProcess || config.production)) {
    refuse(
      'AUTH_TOKENS',
      `or AUTH_TOKENS_FILE, AUTH_JWKS_URL or AUTH_JWT_SECRET is required ${config.production ? IN_PRODUCTION : 'unless EVENT_STORE is memory'}: callers must be authenticated`,
      'set AUTH_TOKENS=alice:<a long random token>, or one of the others',
    );
  }
  if (config.production && !isSet('EVENT_STORE')) {
    refuse(
      'EVENT_STORE',
      `is required ${IN_PRODUCTION}: its default loses all plants at exit`,
      'set EVENT_STORE=redis and REDIS_URL, or EVENT_STORE=memory if that is meant',
    );
  }
  const longestNotice = config.SHUTDOWN_TIMEOUT_MS / 2;
  if ((config.SHUTDOWN_NOTICE_MS ?? 0) > longestNotice) {
    refuse(
      'SHUTDOWN_NOTICE_MS',
      `must be at most ${longestNotice}, half of SHUTDOWN_TIMEOUT_MS: the other half is for requests`,
      `set it to ${longestNotice} or less, or raise SHUTDOWN_TIMEOUT_MS`,
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
  }
  if (config.EVENT_STORE !== 'redis') return problems;

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
