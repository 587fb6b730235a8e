import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { tokenFileProblem } from '../../../src/adapters/auth/token-file';
import { readConfig } from '../../../src/service/config';
import { temporaryDirectory } from '../../support/temporary-directory';
import { AUDIENCE, ISSUER } from './signing';

const claims = { AUTH_JWT_ISSUER: ISSUER, AUTH_JWT_AUDIENCE: AUDIENCE };
const AUTH_JWT_SECRET = 's'.repeat(32);
const AUTH_JWKS_URL = 'https://id.example/keys';

type Environment = Readonly<Record<string, string>>;

/** The problems of a configuration, as `VARIABLE rule`. */
function problems(environment: Environment): string[] {
  return (readConfig(environment, { tokenFileProblem }).problems ?? []).map(
    ({ variable, rule }) => `${variable} ${rule}`,
  );
}

describe('The configuration of authentication', () => {
  const path = temporaryDirectory();

  describe('accepts', () => {
    const good: Record<string, Environment> = {
      'keys over https': { AUTH_JWKS_URL, ...claims },
      'keys from this machine over http, by name': { AUTH_JWKS_URL: 'http://localhost:8080/keys', ...claims },
      'keys from this machine over http, by address': {
        AUTH_JWKS_URL: 'http://127.0.0.1:8080/keys',
        ...claims,
      },
      'keys from this machine over http, by IPv6 address': { AUTH_JWKS_URL: 'http://[::1]:8080/', ...claims },
      'a secret of 32 bytes': { AUTH_JWT_SECRET, ...claims },
      'a secret of fewer characters but 32 bytes': { AUTH_JWT_SECRET: 'ü'.repeat(16), ...claims },
      'empty variables': { AUTH_JWKS_URL: '', AUTH_JWT_ISSUER: '', AUTH_TOKENS_FILE: '' },
    };
    for (const [what, environment] of Object.entries(good)) {
      it(what, () => expect(problems(environment)).to.deep.equal([]));
    }

    it('a file and signed tokens together, in production, on Redis', () => {
      writeFileSync(path('tokens.json'), '{"users": []}');
      const production = { NODE_ENV: 'production', EVENT_STORE: 'redis' };
      const file = { AUTH_TOKENS_FILE: path('tokens.json') };
      for (const source of [file, { AUTH_JWKS_URL, ...claims }, { AUTH_JWT_SECRET, ...claims }]) {
        expect(problems({ ...production, ...source })).to.deep.equal([]);
      }
      expect(problems({ ...production, ...file, AUTH_JWKS_URL, ...claims })).to.deep.equal([]);
    });
  });

  describe('refuses', () => {
    const bad: Record<string, readonly [environment: Environment, ...expected: RegExp[]]> = {
      'keys over plain http': [
        { AUTH_JWKS_URL: 'http://id.example/keys', ...claims },
        /^AUTH_JWKS_URL must be an https URL/,
      ],
      'keys over http from a name that only starts like that of this machine': [
        { AUTH_JWKS_URL: 'http://localhost.example/keys', ...claims },
        /^AUTH_JWKS_URL must be an https URL/,
      ],
      'keys over http from an address that only starts like that of this machine': [
        { AUTH_JWKS_URL: 'http://127.0.0.1.example/keys', ...claims },
        /^AUTH_JWKS_URL must be an https URL/,
      ],
      'keys from a file': [
        { AUTH_JWKS_URL: 'file:///keys', ...claims },
        /^AUTH_JWKS_URL must be an https URL/,
      ],
      'keys from an address without a scheme': [
        { AUTH_JWKS_URL: 'id.example', ...claims },
        /^AUTH_JWKS_URL must be an https URL/,
      ],
      'keys from an address with user and password': [
        { AUTH_JWKS_URL: 'https://u:p@id.example/keys', ...claims },
        /^AUTH_JWKS_URL must be an https URL without user and password/,
      ],
      'keys from an address with a user': [
        { AUTH_JWKS_URL: 'https://u@id.example/keys', ...claims },
        /^AUTH_JWKS_URL must be an https URL without user and password/,
      ],
      'a secret of 31 bytes': [
        { AUTH_JWT_SECRET: 's'.repeat(31), ...claims },
        /^AUTH_JWT_SECRET must be at least 32 bytes$/,
      ],
      'both a secret and published keys': [
        { AUTH_JWKS_URL, AUTH_JWT_SECRET, ...claims },
        /^AUTH_JWT_SECRET cannot go with AUTH_JWKS_URL$/,
      ],
      'signed tokens without issuer and audience': [
        { AUTH_JWT_SECRET },
        /^AUTH_JWT_ISSUER is required/,
        /^AUTH_JWT_AUDIENCE is required/,
      ],
      'an issuer and an audience without keys': [
        claims,
        /^AUTH_JWT_ISSUER does nothing without/,
        /^AUTH_JWT_AUDIENCE does nothing without/,
      ],
      'no authentication in production': [
        { NODE_ENV: 'production', EVENT_STORE: 'memory' },
        /^AUTH_TOKENS or AUTH_TOKENS_FILE/,
      ],
      'no authentication on Redis': [{ EVENT_STORE: 'redis' }, /^AUTH_TOKENS or AUTH_TOKENS_FILE/],
    };
    for (const [what, [environment, ...expected]] of Object.entries(bad)) {
      it(what, () => {
        const found = problems(environment);
        expect(found).to.have.length(expected.length);
        expected.forEach((rule, index) => expect(found[index]).to.match(rule));
      });
    }

    it('an invalid token file, and names the entry and the rule', () => {
      const AUTH_TOKENS_FILE = path('tokens.json');
      expect(problems({ AUTH_TOKENS_FILE })[0]).to.include('it cannot be read (ENOENT)');
      writeFileSync(AUTH_TOKENS_FILE, '{"users": [{"name": "alice", "tokens": [{"sha256": "short"}]}]}');
      expect(problems({ AUTH_TOKENS_FILE })[0]).to.include(
        'users[0].tokens[0].sha256 must be 64 hexadecimal digits',
      );
    });

    it('all problems at once, without printing secrets', () => {
      const { problems } = readConfig(
        {
          AUTH_TOKENS: 'alice',
          AUTH_TOKENS_FILE: path('none'),
          AUTH_JWT_SECRET: 'short and secret',
          AUTH_JWKS_URL: 'http://user:hidden@id.example',
        },
        { tokenFileProblem },
      );
      expect(problems!.map(({ variable }) => variable)).to.have.members([
        'AUTH_TOKENS',
        'AUTH_TOKENS_FILE',
        'AUTH_JWT_SECRET',
        'AUTH_JWKS_URL',
      ]);
      expect(JSON.stringify(problems)).not.to.match(/short and secret|hidden/);
    });
  });
});
