/** What a Redis must be, and should be, to keep events. */
export interface Findings {
  /** Why it must not be used. */
  readonly refusals: readonly string[];
  /** What may cost acknowledged writes. */
  readonly warnings: readonly string[];
}

/**
 * Judges a server by the text of `INFO` and by `CONFIG GET appendfsync`
 * (`undefined` where it may not be read). Each finding says how to mend it.
 */
export function checkServer(info: string, appendfsync: string | undefined): Findings {
  const facts = new Map(
    info
      .split('\r\n')
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)] as const),
  );
  const refusals: string[] = [];
  const warnings: string[] = [];

  if (facts.get('role') === 'slave') {
    refusals.push(
      'this Redis is a replica: connect to its primary (REDIS_URL), or through Sentinel (REDIS_SENTINELS)',
    );
  }
  const policy = facts.get('maxmemory_policy');
  if (policy === undefined) {
    warnings.push('maxmemory-policy could not be read: make sure that it is noeviction');
  } else if (policy !== 'noeviction') {
    refusals.push(
      `maxmemory-policy is ${policy}, which lets Redis throw events away: CONFIG SET maxmemory-policy noeviction`,
    );
  }
  const aof = facts.get('aof_enabled');
  if (aof === undefined)
    warnings.push(
      'persistence could not be checked: make sure that appendonly is yes and appendfsync always',
    );
  else if (aof === '0')
    warnings.push('appendonly is off: a crash of Redis loses acknowledged writes: CONFIG SET appendonly yes');
  else if (appendfsync === undefined)
    warnings.push('appendfsync could not be read: make sure that it is always');
  else if (appendfsync !== 'always') {
    warnings.push(
      `appendfsync is ${appendfsync}: a crash of the machine loses the last acknowledged writes: CONFIG SET appendfsync always`,
    );
  }
  return { refusals, warnings };
}
