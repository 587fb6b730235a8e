import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { tokenFileProblem } from '../../src/adapters/auth/token-file';
import { readConfig } from '../../src/service/config';
import { temporaryDirectory } from '../support/temporary-directory';

type Environment = Readonly<Record<string, string>>;
type Due = [variable: string, rule: RegExp, fix: RegExp];

const FOR_US = { AUTH_JWT_ISSUER: 'i', AUTH_JWT_AUDIENCE: 'a' };
const SECRET = 's'.repeat(32);

describe('The configuration', () => {
  const refused: [what: string, environment: Environment, problems: Due[]][] = [
    [
      'two ports that are the same',
      { PORT: '8080', ADMIN_PORT: '8080' },
      [['ADMIN_PORT', /must differ from PORT/, /another port, or unset/]],
    ],
    [
      'two ways to verify JWTs',
      { ...FOR_US, AUTH_JWT_SECRET: SECRET, AUTH_JWKS_URL: 'https://issuer.example/keys' },
      [['AUTH_JWT_SECRET', /cannot go with AUTH_JWKS_URL/, /unset one of the two/]],
    ],
    [
      'JWTs without issuer and audience',
      { AUTH_JWT_SECRET: SECRET },
      [
        ['AUTH_JWT_ISSUER', /is required with AUTH_JWKS_URL and AUTH_JWT_SECRET/, /have as iss$/],
        ['AUTH_JWT_AUDIENCE', /is required with AUTH_JWKS_URL and AUTH_JWT_SECRET/, /have as aud$/],
      ],
    ],
    [
      'Redis without authentication',
      { EVENT_STORE: 'redis' },
      [['AUTH_TOKENS', /is required unless EVENT_STORE is memory/, /set AUTH_TOKENS=alice:/]],
    ],
    ...[
      'http://issuer.example/keys',
      'http://localhost.example/keys',
      'http://127.0.0.1.example/keys',
      'file:///keys',
      'ftp://127.0.0.1/',
      'issuer',
      'https://u@i.example/',
      'https://:p@i.example/',
    ].map((url): [string, Environment, Due[]] => [
      `keys from ${url}`,
      { ...FOR_US, AUTH_JWKS_URL: url },
      [['AUTH_JWKS_URL', /must be an https URL without user and password/, /write https/]],
    ]),
    [
      'the second of two addresses',
      { EVENT_STORE: 'redis', AUTH_TOKENS: 'a:b', REDIS_CLUSTER_NODES: 'a:1,b' },
      [['REDIS_CLUSTER_NODES', /^entry 2: must be host:port$/, /host:port,host:port/]],
    ],
    [
      'the second of two origins',
      { CORS_ORIGINS: 'https://a.example,b' },
      [['CORS_ORIGINS', /^entry 2: must be an origin/, /write https/]],
    ],
    ...[
      ['a:b,c', /^entry 2: must be user:token/],
      ['a:b,c:d e', /^entry 2: the token may contain only/],
      ['a:b,c:b', /^entry 2: the token is given twice$/],
    ].map(([AUTH_TOKENS, rule]): [string, Environment, Due[]] => [
      `the second of two users (${String(rule)})`,
      { AUTH_TOKENS: String(AUTH_TOKENS) },
      [['AUTH_TOKENS', rule as RegExp, /./]],
    ]),
    [
      'a format of the log',
      { LOG_FORMAT: 'text' },
      [['LOG_FORMAT', /^must be one of: json, pretty$/, /json/]],
    ],
    [
      'a short secret',
      { ...FOR_US, AUTH_JWT_SECRET: SECRET.slice(1) },
      [['AUTH_JWT_SECRET', /must be at least 32 bytes/, /openssl rand -base64 48/]],
    ],
  ];
  for (const [what, environment, due] of refused)
    it(`refuses ${what}`, () => {
      const problems = readConfig(environment).problems ?? [];
      expect(problems.map(({ variable }) => variable)).to.deep.equal(due.map(([variable]) => variable));
      due.forEach(([, rule, fix], index) => {
        expect(problems[index]!.rule).to.match(rule);
        expect(problems[index]!.fix).to.match(fix);
      });
    });

  it('accepts a secret of 32 bytes, and plain http from this machine itself', () => {
    for (const AUTH_JWT_SECRET of [SECRET, 'ü'.repeat(16)])
      expect(readConfig({ ...FOR_US, AUTH_JWT_SECRET }).problems, AUTH_JWT_SECRET).to.be.undefined;
    for (const host of ['127.0.0.1:8080', 'localhost', '[::1]']) {
      expect(readConfig({ ...FOR_US, AUTH_JWKS_URL: `http://${host}/keys` }).problems, host).to.be.undefined;
    }
  });

  it('ignores all that authenticates, for a command that does not', () => {
    const environment = {
      EVENT_STORE: 'redis',
      AUTH_JWT_SECRET: 'short',
      AUTH_TOKENS: 'a:b',
      LOG_LEVEL: 'warn',
    };
    const { config } = readConfig(environment, { authentication: false });
    expect(config).to.include({ EVENT_STORE: 'redis', LOG_LEVEL: 'warn' });
    expect(config).not.to.have.any.keys('AUTH_JWT_SECRET', 'AUTH_TOKENS');
  });

  it('reports what is wrong with the token file', () => {
    const { problems } = readConfig(
      { AUTH_TOKENS_FILE: 'tokens.json' },
      { tokenFileProblem: () => 'it is odd' },
    );
    expect(problems).to.deep.equal([
      {
        variable: 'AUTH_TOKENS_FILE',
        rule: 'names a file that cannot be used: it is odd',
        fix: 'correct the file, or make one: plant-store token new --user alice --file <path>',
      },
    ]);
  });

  describe('with a token file', () => {
    const path = temporaryDirectory();

    it('accepts it together with JWTs, in production, on Redis', () => {
      writeFileSync(path('tokens.json'), '{"users": []}');
      const production = { NODE_ENV: 'production', EVENT_STORE: 'redis' };
      const file = { AUTH_TOKENS_FILE: path('tokens.json') };
      const jwts = { ...FOR_US, AUTH_JWT_SECRET: SECRET };
      for (const source of [file, jwts, { ...file, ...jwts }])
        expect(readConfig({ ...production, ...source }, { tokenFileProblem }).problems).to.be.undefined;
    });

    it('refuses an invalid one, and names the entry and the rule', () => {
      const AUTH_TOKENS_FILE = path('tokens.json');
      const rule = () => readConfig({ AUTH_TOKENS_FILE }, { tokenFileProblem }).problems?.[0]!.rule;
      expect(rule()).to.include('it cannot be read (ENOENT)');
      writeFileSync(AUTH_TOKENS_FILE, '{"users": [{"name": "alice", "tokens": [{"sha256": "short"}]}]}');
      expect(rule()).to.include('users[0].tokens[0].sha256 must be 64 hexadecimal digits');
    });
  });
});
