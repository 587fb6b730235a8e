import { expectFits80Columns } from '../adapters/cli/cli-fixture';
import { expect } from 'chai';
import fc from 'fast-check';
import { type ConfigProblem, readConfig, settings, variables } from '../../src/service/config';
import { configText, help, problemsText } from '../../src/service/start-text';

type Environment = Readonly<Record<string, string>>;

/** With it, the variables REDIS_… and SNAPSHOT_EVERY do something. */
const ON_REDIS: Environment = { EVENT_STORE: 'redis', AUTH_TOKENS: 'a:b' };

/** All that the variable `name` needs. */
function around(name: string): Environment {
  return /^REDIS_|^SNAPSHOT_/.test(name) ? ON_REDIS : {};
}

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

/** Each may be set to anything. */
const ORDINARY = [
  'HOME PATH PWD OLDPWD SHELL SHLVL TERM TERM_PROGRAM COLORTERM COLUMNS LINES LANG LANGUAGE LC_ALL LC_CTYPE TZ USER',
  'USERNAME LOGNAME MAIL EDITOR VISUAL PAGER LESS LS_COLORS PS1 HISTFILE HISTSIZE HISTCONTROL HOSTNAME HOSTTYPE OSTYPE',
  'MACHTYPE SSH_AUTH_SOCK SSH_AGENT_PID SSH_CLIENT SSH_CONNECTION SSH_TTY TMUX TMUX_PANE STY GPG_TTY _ DISPLAY DESKTOP_SESSION',
  'XDG_RUNTIME_DIR XDG_SESSION_ID XDG_DATA_DIRS XDG_CONFIG_HOME DBUS_SESSION_BUS_ADDRESS SESSION_MANAGER WAYLAND_DISPLAY',
  'TMPDIR TMP TEMP XPC_SERVICE_NAME __CF_USER_TEXT_ENCODING COMMAND_MODE ZSH FPATH NVM_DIR NVM_BIN VOLTA_HOME PNPM_HOME',
  'http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY DOCKER_HOST KUBECONFIG AWS_PROFILE AWS_REGION',
  'APPDATA ProgramFiles SystemRoot ComSpec PATHEXT OS PROCESSOR_ARCHITECTURE COMPUTERNAME USERPROFILE WINDIR PUBLIC',
  'NODE NODE_OPTIONS NODE_PATH NODE_VERSION NODE_EXTRA_CA_CERTS NODE_NO_WARNINGS NODE_DEBUG NODE_NAME NODE_LABELS YARN_VERSION',
  'INIT_CWD npm_command npm_config_cache npm_config_registry npm_execpath npm_lifecycle_event npm_node_execpath npm_package_name',
  'npm_package_version DEBUG VERBOSE FORCE_COLOR NO_COLOR CI CONTINUOUS_INTEGRATION BUILD_NUMBER BUILD_ID JOB_NAME WORKSPACE',
  'GITHUB_ACTIONS GITHUB_TOKEN GITHUB_REF GITHUB_SHA GITHUB_EVENT_NAME GITHUB_EVENT_PATH RUNNER_OS RUNNER_TEMP GITLAB_CI',
  'CI_JOB_ID CI_SERVER_HOST CI_SERVER_PORT CI_JOB_TOKEN CIRCLECI TRAVIS JENKINS_URL HUDSON_URL TF_BUILD AGENT_NAME',
  'INVOCATION_ID JOURNAL_STREAM SYSTEMD_EXEC_PID NOTIFY_SOCKET WATCHDOG_USEC LISTEN_FDS LISTEN_PID MAINPID MEMORY_PRESSURE_WATCH',
  'LOG_NAMESPACE LOGS_DIRECTORY CACHE_DIRECTORY STATE_DIRECTORY RUNTIME_DIRECTORY CONFIGURATION_DIRECTORY CREDENTIALS_DIRECTORY',
  'KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_SERVICE_PORT_HTTPS KUBERNETES_PORT KUBERNETES_PORT_443_TCP',
  'KUBERNETES_PORT_443_TCP_ADDR PLANT_STORE_PORT PLANT_STORE_SERVICE_HOST PLANT_STORE_SERVICE_PORT PLANT_STORE_PORT_3000_TCP',
  'PLANT_STORE_PORT_3000_TCP_PROTO AUTH_PORT AUTH_SERVICE_HOST AUTH_SERVICE_PORT_HTTP EVENT_STORE_PORT EVENT_STORE_PORT_80_TCP',
  'POD_NAME POD_IP POD_NAMESPACE NODE_IP CONTAINER container DYNO WEB_CONCURRENCY DATABASE_URL K_SERVICE K_REVISION',
  'AWS_EXECUTION_ENV ECS_CONTAINER_METADATA_URI FLY_APP_NAME OTEL_SERVICE_NAME OTEL_EXPORTER_OTLP_ENDPOINT MAINTAINER',
].flatMap((line) => line.split(' '));

describe('The configuration', () => {
  it('has a default for each variable that must have a value', () => {
    expect(configOf({})).to.include({
      HOST: '127.0.0.1',
      PORT: 3000,
      EVENT_STORE: 'memory',
      REDIS_URL: 'redis://127.0.0.1:6379',
      REDIS_KEY_PREFIX: 'plant-store',
      REDIS_WAIT_REPLICAS: 0,
      REDIS_FEED_LENGTH: 10_000,
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
    expect(configOf({ ...shown, ...ON_REDIS })).to.deep.equal(configOf(ON_REDIS));
  });

  it('counts an empty value as unset', () => {
    const empty = Object.fromEntries(variables.map(({ name }) => [name, '']));
    expect(configOf(empty)).to.deep.equal(configOf({}));
  });

  for (const [name, least, most] of [
    ['PORT', 0, 65_535],
    ['ADMIN_PORT', 0, 65_535],
    ['BODY_LIMIT', 1, 16_777_216],
    ['REQUEST_TIMEOUT_MS', 100, 3_600_000],
    ['STORE_TIMEOUT_MS', 50, 60_000],
    ['SHUTDOWN_TIMEOUT_MS', 0, 3_600_000],
    ['CACHE_MAX_BYTES', 1_048_576, 1_099_511_627_776],
    ['CACHE_MAX_PLANTS', 0, 1_000_000_000],
    ['SNAPSHOT_EVERY', 0, 1_000_000_000],
    ['REDIS_WAIT_REPLICAS', 0, 16],
    ['REDIS_FEED_LENGTH', 100, 1_000_000],
    ['MAX_CONNECTIONS', 1, 1_000_000],
  ] as const) {
    it(`accepts whole numbers from ${least} to ${most} as ${name}, and no other value`, () => {
      for (const value of [least, most])
        expect(configOf({ ...around(name), [name]: String(value) })[name]).to.equal(value);
      for (const value of [String(least - 1), String(most + 1), '1.5', '1e3', '0x10', ' 1', 'ten', '+1']) {
        const { rule } = expectRefused({ ...around(name), [name]: value }, name);
        expect(rule).to.contain(String(least)).and.to.contain(String(most));
      }
    });
  }

  for (const [name, values, others] of [
    ['EVENT_STORE', ['memory'], ['Memory', 'postgres', 'my-store.js', './', '.../store.js']],
    ['LOG_LEVEL', ['trace', 'silent'], ['verbose']],
    ['LOG_FORMAT', ['json', 'pretty'], ['PRETTY', 'text']],
    [
      'CORS_ORIGINS',
      ['*', 'https://a.example', 'http://localhost:5173, https://b.example'],
      [
        'a.example',
        'https://a.example/',
        'https://a.example:443',
        'https://A.example',
        'null',
        'https://a.example,',
        '*,https://a.example',
      ],
    ],
    [
      'REDIS_STORE_ID',
      ['11111111-1111-4111-8111-111111111111', 'ABCDEF01-2345-6789-abcd-ef0123456789'],
      [
        '1',
        '11111111111141118111111111111111',
        ' 11111111-1111-4111-8111-111111111111',
        '11111111-1111-4111-8111-1111111111111',
      ],
    ],
    ['REDIS_KEY_PREFIX', ['p', 'a.b_c:d-1'], ['a b', 'a{b', 'x'.repeat(101)]],
    [
      'REDIS_URL',
      ['redis://h', 'redis://h/', 'rediss://u:p@h:1/2', 'redis://h/12', 'redis://[::1]:6379'],
      ['h:6379', 'http://h', 'redis://', 'redis://h/x'],
    ],
    [
      'REDIS_CLUSTER_NODES',
      ['a:1', 'a:1,[::1]:65535'],
      ['a', 'a:0', 'a:65536', 'a:1,', ':1', 'a b:1', 'x[::1]:1', 'a:1 b', 'a:1b'],
    ],
    [
      'AUTH_TOKENS',
      ['a:b', 'a:b,c:d', 'a:b:c', 'ü:x=='],
      ['a', 'a:', ':b', 'a:b,a:b', 'a:b,c:b', 'a:b c', `${'x'.repeat(256)}:b`],
    ],
  ] as const) {
    it(`accepts a well-formed ${name} and refuses any other`, () => {
      for (const value of values)
        expect(problemsOf({ ...around(name), [name]: value }), value).to.deep.equal([]);
      for (const value of others) expectRefused({ ...around(name), [name]: value }, name);
    });
  }

  it('accepts the path of a module as EVENT_STORE, with authentication', () => {
    for (const EVENT_STORE of ['./my-store.js', '../store.cjs', '/srv/store.mjs']) {
      expect(configOf({ EVENT_STORE, AUTH_TOKENS: 'a:b' }).EVENT_STORE).to.equal(EVENT_STORE);
      expect(problemsOf({ EVENT_STORE }).map(({ variable }) => variable)).to.deep.equal(['AUTH_TOKENS']);
    }
  });

  it('has the hosts and ports of a list of addresses', () => {
    expect(configOf({ ...ON_REDIS, REDIS_CLUSTER_NODES: ' redis-1:6379 , [::1]:1' })).to.deep.include({
      REDIS_CLUSTER_NODES: [
        { host: 'redis-1', port: 6379 },
        { host: '::1', port: 1 },
      ],
    });
  });

  it('accepts colons in the name of a user, and several tokens of one user', () => {
    const { AUTH_TOKENS } = configOf({ AUTH_TOKENS: 'urn:alice:one,urn:alice:two, bob : three' });
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
    ['ADMIN_PASSWORD', 'ADMIN_PORT'],
    ['EVENTSTORE', 'EVENT_STORE'],
    ['Event-Store', 'EVENT_STORE'],
    ['authTokensFile', 'AUTH_TOKENS_FILE'],
    ['PORTS', 'PORT'],
    ['port', 'PORT'],
    ['TOKENS_FILE', 'AUTH_TOKENS_FILE'],
    ['SENTINELS', 'REDIS_SENTINELS'],
    ['STORE_ID', 'REDIS_STORE_ID'],
    ['LOG_MAX_CONNECTIONS', 'LOG_FORMAT'],
    ['NODEENV', 'NODE_ENV'],
  ]) {
    it(`refuses ${misspelled!}, and asks whether ${meant!} was meant`, () => {
      expect(expectRefused({ [misspelled!]: 'x' }, misspelled!).fix).to.contain(`${meant!}?`);
    });
  }

  it('refuses each name with one typo, for every variable', () => {
    for (const { name } of variables) {
      for (let at = 0; at < name.length; at++) {
        const [before, letter, after] = [name.slice(0, at), name[at]!, name.slice(at + 1)];
        const typos = [before + after, `${before}${letter}X${after}`, `${before}X${after}`];
        for (const typo of [...typos, `${before}${after.slice(0, 1)}${letter}${after.slice(1)}`])
          if (typo !== name) expect(problemsOf({ [typo]: 'x' }), typo).to.have.length(1);
      }
    }
  });

  it('ignores a name that is nearly a variable which is set, or which has a different meaning', () => {
    expect(problemsOf({ PORT: '0', PORTS: '0,1', HOST: 'h', GHOST: 'x' })).to.deep.equal([]);
    for (const name of ['URL', 'LEVEL', 'STORE', 'TOKENS', 'npm_config_REDIS_HOST'])
      expect(problemsOf({ [name]: 'x' }), name).to.deep.equal([]);
  });

  it('ignores the variables of shells, desktops, CI, Kubernetes, systemd and Docker', () => {
    expect(
      problemsOf(Object.fromEntries(ORDINARY.map((name) => [name, 'tcp://10.0.0.1:3000']))),
    ).to.deep.equal([]);
  });

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
    expect(problemsOf({ NODE_ENV: 'production', EVENT_STORE: 'memory' })).to.have.length(1);
    expect(problemsOf({ NODE_ENV: 'production', ...ON_REDIS })).to.deep.equal([]);
  });

  it('takes every NODE_ENV but development and test for production', () => {
    for (const NODE_ENV of ['', 'development', 'test'])
      expect(configOf({ NODE_ENV }), NODE_ENV).to.include({ production: false });
    for (const NODE_ENV of ['production', 'Production', 'prod', 'staging', 'Test'])
      expect(problemsOf({ NODE_ENV }).map(({ variable }) => variable)).to.deep.equal([
        'AUTH_TOKENS',
        'EVENT_STORE',
      ]);
  });

  it('needs EVENT_STORE=memory by name in production', () => {
    const production = { NODE_ENV: 'production', AUTH_TOKENS: 'a:b' };
    for (const EVENT_STORE of ['', undefined])
      expectRefused({ ...production, ...(EVENT_STORE === undefined ? {} : { EVENT_STORE }) }, 'EVENT_STORE');
    expect(problemsOf({ ...production, EVENT_STORE: 'memory' })).to.deep.equal([]);
  });

  it('refuses a variable that does nothing', () => {
    const value = (name: string) =>
      /NODES|SENTINELS$/.test(name)
        ? 'h:1'
        : ((
            { REDIS_URL: 'redis://h', REDIS_STORE_ID: '11111111-1111-4111-8111-111111111111' } as Environment
          )[name] ?? '1');
    const onlyOnRedis = variables.map(({ name }) => name).filter((name) => name.startsWith('REDIS_'));
    for (const name of onlyOnRedis) {
      expectRefused({ [name]: value(name) }, name);
      expectRefused({ ...ON_REDIS, EVENT_STORE: './store.js', [name]: value(name) }, name);
    }
    expectRefused({ SNAPSHOT_EVERY: '1' }, 'SNAPSHOT_EVERY');
    expect(problemsOf({ ...ON_REDIS, EVENT_STORE: './store.js', SNAPSHOT_EVERY: '1' })).to.deep.equal([]);
    for (const name of ['AUTH_JWT_ISSUER', 'AUTH_JWT_AUDIENCE']) expectRefused({ [name]: 'x' }, name);
  });

  it('reports a misspelled EVENT_STORE, and not the variables that need it', () => {
    expectRefused({ EVENTSTORE: 'redis', REDIS_URL: 'redis://h' }, 'EVENTSTORE');
    expectRefused({ EVENT_STORE: 'Redis', REDIS_URL: 'redis://h' }, 'EVENT_STORE');
  });

  it('refuses a SHUTDOWN_NOTICE_MS that would be cut to half of SHUTDOWN_TIMEOUT_MS', () => {
    expectRefused({ SHUTDOWN_NOTICE_MS: '10001' }, 'SHUTDOWN_NOTICE_MS');
    expect(configOf({ SHUTDOWN_NOTICE_MS: '15000', SHUTDOWN_TIMEOUT_MS: '30000' })).to.be.an('object');
    expect(configOf({ SHUTDOWN_TIMEOUT_MS: '0' }).SHUTDOWN_NOTICE_MS).to.equal(undefined);
  });

  it('refuses variables that exclude each other', () => {
    const addresses = 'h:1';
    const master = { REDIS_SENTINEL_MASTER: 'primary' };
    for (const [redis, refused] of [
      [{ REDIS_CLUSTER_NODES: addresses, REDIS_WAIT_REPLICAS: '1' }, 'REDIS_WAIT_REPLICAS'],
      [{ REDIS_SENTINELS: addresses }, 'REDIS_SENTINEL_MASTER'],
      [master, 'REDIS_SENTINEL_MASTER'],
      [{ REDIS_CLUSTER_NODES: addresses, REDIS_SENTINELS: addresses, ...master }, 'REDIS_SENTINELS'],
    ] as const)
      expectRefused({ ...ON_REDIS, ...redis }, refused);
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
      EVENT_STORE: 'redis',
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
    const [url] = settings({}).filter(({ name }) => name === 'REDIS_URL');
    expect(url).to.include({ value: 'redis://127.0.0.1:6379', source: 'default' });
    expect(configText(settings({ AUTH_JWKS_URL: 'https://h/keys?key=S3CRET' }))).to.contain(
      'https://h/keys?***',
    );
  });

  it('fits on a screen, and so do all its problems', () => {
    const wrong = Object.fromEntries(variables.map(({ name }) => [name, '\0']));
    for (const text of [configText(settings({})), problemsText(problemsOf(wrong))])
      expect(text.split('\n').length).to.be.below(60);
  });

  it('is listed by --help on 80 columns, each variable with its default', () => {
    expectFits80Columns(help());
    const joined = help().replaceAll(/\n {5,}/g, ' ');
    for (const { name, fallback } of variables)
      expect(joined).to.match(
        new RegExp(`^ +${name} .*${fallback === undefined ? '' : `; default: ${fallback}$`}`, 'm'),
      );
  });
});
