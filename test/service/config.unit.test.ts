import { expect } from 'chai';
import fc from 'fast-check';
import { type ConfigProblem, readConfig, settings, variables } from '../../src/service/config';
import { configText, help, problemsText } from '../../src/service/start-text';

type Environment = Readonly<Record<string, string>>;

function configOf(environment: Environment) {
  const { config, problems } = readConfig(environment);
  if (problems) throw new Error(problemsText(problems));
  return config;
}

function problemsOf(environment: Environment): readonly ConfigProblem[] {
  return readConfig(environment).problems ?? [];
}

/** Expects that this variable alone is refused. */
function expectRefused(environment: Environment, variable: string): ConfigProblem {
  const problems = problemsOf(environment);
  expect(problems.map((problem) => problem.variable)).to.deep.equal([variable]);
  expect(problems[0]!.rule).to.be.a('string').that.is.not.empty;
  expect(problems[0]!.fix).to.be.a('string').that.is.not.empty;
  return problems[0]!;
}

describe('The configuration', () => {
  it('has a default for each variable that must have a value', () => {
    expect(configOf({})).to.include({
      HOST: '127.0.0.1',
      PORT: 3000,
      EVENT_STORE: 'memory',
      REDIS_URL: 'redis://127.0.0.1:6379',
      REDIS_KEY_PREFIX: 'plant-store',
      REDIS_WAIT_REPLICAS: 0,
      BODY_LIMIT: 65_536,
      REQUEST_TIMEOUT_MS: 15_000,
      STORE_TIMEOUT_MS: 2000,
      SHUTDOWN_TIMEOUT_MS: 20_000,
      LOG_LEVEL: 'info',
      production: false,
    });
  });

  it('parses the defaults that it shows', () => {
    const shown = Object.fromEntries(
      variables.flatMap(({ name, fallback }) => (fallback === undefined ? [] : [[name, fallback]])),
    );
    expect(configOf(shown)).to.deep.equal(configOf({}));
  });

  it('counts an empty value as unset', () => {
    const empty = Object.fromEntries(variables.map(({ name }) => [name, '']));
    expect(configOf(empty)).to.deep.equal(configOf({}));
  });

  for (const [name, least, most] of [
    ['PORT', 0, 65_535],
    ['BODY_LIMIT', 1, 16_777_216],
    ['REQUEST_TIMEOUT_MS', 100, 3_600_000],
    ['STORE_TIMEOUT_MS', 50, 60_000],
    ['SHUTDOWN_TIMEOUT_MS', 0, 3_600_000],
    ['CACHE_MAX_BYTES', 1_048_576, 1_099_511_627_776],
    ['CACHE_MAX_PLANTS', 0, 1_000_000_000],
    ['SNAPSHOT_EVERY', 0, 1_000_000_000],
    ['REDIS_WAIT_REPLICAS', 0, 16],
    ['MAX_CONNECTIONS', 1, 1_000_000],
  ] as const) {
    it(`accepts whole numbers from ${least} to ${most} as ${name}, and no other value`, () => {
      for (const value of [least, most]) expect(configOf({ [name]: String(value) })[name]).to.equal(value);
      for (const value of [String(least - 1), String(most + 1), '1.5', '1e3', '0x10', ' 1', 'ten', '+1']) {
        const { rule } = expectRefused({ [name]: value }, name);
        expect(rule).to.contain(String(least)).and.to.contain(String(most));
      }
    });
  }

  for (const [name, values, others] of [
    ['EVENT_STORE', ['memory'], ['Memory', 'postgres', 'my-store.js', './', '.../store.js']],
    ['LOG_LEVEL', ['trace', 'silent'], ['verbose']],
    ['LOG_FORMAT', ['json', 'pretty'], ['PRETTY', 'text']],
    [
      'REDIS_STORE_ID',
      ['11111111-1111-4111-8111-111111111111', 'ABCDEF01-2345-6789-abcd-ef0123456789'],
      ['1', '11111111111141118111111111111111', ' 11111111-1111-4111-8111-111111111111'],
    ],
    ['REDIS_KEY_PREFIX', ['p', 'a.b_c:d-1'], ['a b', 'a{b', 'x'.repeat(101)]],
    [
      'REDIS_URL',
      ['redis://h', 'rediss://u:p@h:1/2', 'redis://[::1]:6379'],
      ['h:6379', 'http://h', 'redis://', 'redis://h/x'],
    ],
    ['REDIS_CLUSTER_NODES', ['a:1', 'a:1,[::1]:65535'], ['a', 'a:0', 'a:65536', 'a:1,', ':1']],
    [
      'AUTH_TOKENS',
      ['a:b', 'a:b,c:d', 'a:b:c', 'ü:x=='],
      ['a', 'a:', ':b', 'a:b,a:b', 'a:b,c:b', 'a:b c', `${'x'.repeat(256)}:b`],
    ],
  ] as const) {
    it(`accepts a well-formed ${name} and refuses any other`, () => {
      for (const value of values) expect(problemsOf({ [name]: value }), value).to.deep.equal([]);
      for (const value of others) expectRefused({ [name]: value }, name);
    });
  }

  it('accepts the path of a module as EVENT_STORE, with authentication', () => {
    for (const EVENT_STORE of ['./my-store.js', '../store.cjs', '/srv/store.mjs']) {
      expect(configOf({ EVENT_STORE, AUTH_TOKENS: 'a:b' }).EVENT_STORE).to.equal(EVENT_STORE);
      expect(problemsOf({ EVENT_STORE }).map(({ variable }) => variable)).to.deep.equal(['AUTH_TOKENS']);
    }
  });

  it('accepts colons in the name of a user, and several tokens of one user', () => {
    const { AUTH_TOKENS } = configOf({ AUTH_TOKENS: 'urn:alice:one,urn:alice:two,bob:three' });
    expect([...AUTH_TOKENS!]).to.deep.equal([
      ['one', 'urn:alice'],
      ['two', 'urn:alice'],
      ['three', 'bob'],
    ]);
  });

  it('reports all problems at once', () => {
    const problems = problemsOf({
      PORT: 'x',
      STORE_TIMEOUT_MS: '1',
      NODE_ENV: 'production',
      EVENT_STORE: 'disk',
    });
    expect(problems.map(({ variable }) => variable)).to.have.members([
      'PORT',
      'STORE_TIMEOUT_MS',
      'AUTH_TOKENS',
      'EVENT_STORE',
    ]);
    const text = problemsText(problems);
    for (const { variable, rule, fix } of problems)
      expect(text).to.contain(variable).and.to.contain(rule).and.to.contain(fix);
  });

  for (const [misspelled, meant] of [
    ['AUTH_TOKEN', 'AUTH_TOKENS'],
    ['REDIS_URI', 'REDIS_URL'],
    ['STORE_TIMEOUT', 'STORE_TIMEOUT_MS'],
    ['LOG_LEVELS', 'LOG_LEVEL'],
  ]) {
    it(`refuses ${misspelled!}, and asks whether ${meant!} was meant`, () => {
      expect(expectRefused({ [misspelled!]: 'x' }, misspelled!).fix).to.contain(`${meant!}?`);
    });
  }

  it('ignores the variables that Kubernetes and Docker set for a service named redis', () => {
    const theirs = [
      'SERVICE_HOST',
      'SERVICE_PORT',
      'SERVICE_PORT_REDIS',
      'PORT',
      'PORT_6379_TCP',
      'PORT_6379_TCP_ADDR',
      'PORT_6379_TCP_PROTO',
      'ENV_REDIS_VERSION',
      'NAME',
    ];
    expect(problemsOf(Object.fromEntries(theirs.map((name) => [`REDIS_${name}`, 'x'])))).to.deep.equal([]);
  });

  it('refuses to start without authentication on Redis and in production', () => {
    expect(problemsOf({ EVENT_STORE: 'redis' })).to.have.length(1);
    expect(problemsOf({ NODE_ENV: 'production' })).to.have.length(1);
    expect(problemsOf({ NODE_ENV: 'production', EVENT_STORE: 'redis', AUTH_TOKENS: 'a:b' })).to.deep.equal(
      [],
    );
  });

  it('refuses variables that exclude each other', () => {
    const addresses = 'h:1';
    expectRefused({ REDIS_CLUSTER_NODES: addresses, REDIS_WAIT_REPLICAS: '1' }, 'REDIS_WAIT_REPLICAS');
    expectRefused({ REDIS_SENTINELS: addresses }, 'REDIS_SENTINEL_MASTER');
    expectRefused({ REDIS_SENTINEL_MASTER: 'primary' }, 'REDIS_SENTINEL_MASTER');
    expectRefused(
      { REDIS_CLUSTER_NODES: addresses, REDIS_SENTINELS: addresses, REDIS_SENTINEL_MASTER: 'primary' },
      'REDIS_SENTINELS',
    );
  });

  it('never repeats a value in a problem, since it may be a secret', () => {
    const names = variables.map(({ name }) => name);
    const odd = fc.string({ unit: 'binary', maxLength: 20 });
    fc.assert(
      fc.property(fc.constantFrom(...names), odd, odd, (name, before, after) => {
        const text = problemsText(problemsOf({ [name]: `${before}S3CRET${after}` }));
        expect(text).not.to.contain('S3CRET');
      }),
      { numRuns: 500 },
    );
  });

  it('is printed with the source of each value, and without its secrets', () => {
    const environment = {
      PORT: '0',
      LOG_LEVEL: '',
      REDIS_URL: 'redis://user:S3CRET%3f@h:1/2?password=S3CRET',
      AUTH_TOKENS: 'urn:alice:S3CRET==,urn:alice:S3CRET, bob : S3CRET. ',
      AUTH_JWT_SECRET: `S3CRET${'x'.repeat(32)}`,
      AUTH_JWT_ISSUER: 'them\u001b[31m',
      AUTH_JWT_AUDIENCE: 'us',
    };
    expect(problemsOf(environment)).to.deep.equal([]);
    const text = configText(settings(environment));
    const rows: Record<string, readonly string[]> = {};
    for (const line of text.split('\n')) {
      const [name, ...others] = line.split(/ {2,}/);
      rows[name!] = others;
    }
    expect(Object.keys(rows)).to.deep.equal(variables.map(({ name }) => name));
    expect(rows).to.deep.include({
      PORT: ['0', 'environment'],
      LOG_LEVEL: ['info', 'default'],
      REDIS_URL: ['redis://user:***@h:1/2?***', 'environment'],
      REDIS_SENTINELS: ['–', 'unset'],
      AUTH_TOKENS: ['urn:alice:***,urn:alice:***, bob :***', 'environment'],
      AUTH_JWT_SECRET: ['***', 'environment'],
      AUTH_JWT_ISSUER: ['them\\u001b[31m', 'environment'],
    });
    expect(text).not.to.contain('S3CRET');
    expect(configText(settings({ AUTH_JWKS_URL: 'https://h/keys?key=S3CRET' }))).to.contain(
      'https://h/keys?***',
    );
  });

  it('fits on a screen, and so do all its problems', () => {
    const wrong = Object.fromEntries(variables.map(({ name }) => [name, '\0']));
    for (const text of [help(), configText(settings({})), problemsText(problemsOf(wrong))])
      expect(text.split('\n').length).to.be.below(60);
  });

  it('is listed by --help, each variable with its default', () => {
    for (const { name, fallback } of variables)
      expect(help()).to.match(new RegExp(`^ +${name} .*${fallback ?? '–'}`, 'm'));
  });
});
