import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { tokenDigest } from '../../../src/adapters/auth/token-digest';
import { JwksServer } from '../../support/jwks-server';
import { metricsOf } from '../../support/metrics';
import { temporaryDirectory } from '../../support/temporary-directory';
import { tokenFileOf } from '../../support/token-file';
import { until } from '../../support/until';
import { type Serving, serve } from './serving';
import { AUDIENCE, ISSUER, type SigningKey, signed, signingKey } from './signing';

describe('The authentication of the service', () => {
  const path = temporaryDirectory();
  const seconds = Math.floor(Date.now() / 1000);
  let key: SigningKey;
  let issuer: JwksServer;
  let service: Serving;

  before(async () => (key = await signingKey('main')));
  beforeEach(async () => {
    writeTokens({ alice: ['a1', 'a2'], bob: ['b1'] });
    issuer = await JwksServer.start(key.jwk);
    service = await start();
  });
  afterEach(async () => {
    await service.stop();
    await issuer.die();
  });

  function start(): Promise<Serving> {
    return serve({
      AUTH_TOKENS: 'carol:c1',
      AUTH_TOKENS_FILE: path('tokens.json'),
      AUTH_JWKS_URL: issuer.url.href,
      AUTH_JWT_ISSUER: ISSUER,
      AUTH_JWT_AUDIENCE: AUDIENCE,
    });
  }

  function writeTokens(users: Record<string, string[]>): void {
    writeFileSync(path('tokens.json'), tokenFileOf(users), { mode: 0o600 });
  }

  function jwt(claims: object = {}, header: object = {}, by: SigningKey = key): Promise<string> {
    return signed(by, { iat: seconds, exp: seconds + 300, ...claims }, { ...header });
  }

  const plantsOf = async (token: string) => {
    const { status, names } = await service.ask(`Bearer ${token}`);
    expect(status).to.equal(200);
    return names;
  };

  it('shows a user the same plants with any token from any source', async () => {
    await service.ask('Bearer a1', 'POST', { id: 1, name: 'Fern' });
    for (const token of ['a1', 'a2', await jwt()]) {
      expect(await plantsOf(token)).to.deep.equal(['Fern']);
    }
  });

  it('has no development token if another source is configured', () => {
    expect(service.developmentToken).to.be.undefined;
  });

  it('answers every invalid token with identical bytes', async () => {
    const thief = await signingKey('main');
    const wrong = [
      'unknown',
      'A1',
      tokenDigest('a1'),
      await jwt({ exp: seconds - 60 }),
      await jwt({ iss: 'https://evil.example' }),
      await jwt({ aud: 'roses' }),
      await jwt({ sub: '' }),
      await jwt({}, {}, thief),
      await jwt({}, { kid: 'unknown' }),
      await jwt({ padding: 'p'.repeat(4096) }),
      'a1=1',
      'a1,b1',
      'é',
    ];
    for (const token of wrong) {
      const answer = await service.ask(`Bearer ${Buffer.from(token).toString('latin1')}`);
      expect(answer, token).to.include({
        status: 401,
        error: 40101,
        message: 'the bearer token is not valid',
      });
      expect(answer.headers['www-authenticate']).to.equal('Bearer realm="plants", error="invalid_token"');
      expect(Object.keys(answer.headers), token).to.deep.equal(
        Object.keys((await service.ask('Bearer unknown')).headers),
      );
    }
  });

  it('rejects a revoked token as soon as the file is reloaded', async () => {
    expect(await plantsOf('a1')).to.deep.equal([]);
    writeTokens({ alice: ['a2'], bob: ['b1'] });
    service.reload!();
    expect((await service.ask('Bearer a1')).status).to.equal(401);
    expect((await service.ask('Bearer a2')).status).to.equal(200);
  });

  it('keeps the earlier tokens of an invalid file, and logs it', async () => {
    writeFileSync(path('tokens.json'), '{"users": [{"name": ""}]}');
    service.reload!();
    expect(await plantsOf('a1')).to.deep.equal([]);
    expect(service.log.join(''))
      .to.include('AUTH_TOKENS_FILE is broken; the tokens read before stay in force')
      .and.include('users[0].name must be 1 to 255 characters of well-formed Unicode');
  });

  it('shows in the metrics whether each source could be read, and logs it', async () => {
    const values = async (name: string) => {
      const metric = await metricsOf(service.url);
      return ['token_file', 'key_set'].map((source) =>
        metric(`plant_store_auth_source_${name}{source="${source}"}`),
      );
    };
    await until(async () => (await values('up')).join() === '1,1');
    const content = readFileSync(path('tokens.json'));
    writeFileSync(path('tokens.json'), '{');
    await issuer.die();
    await service.ask(`Bearer ${await jwt({}, {}, await signingKey('next'))}`);
    await until(async () => (await values('up')).join() === '0,0');
    expect(await values('failures_total')).to.deep.equal([1, 1]);
    writeFileSync(path('tokens.json'), content);
    await until(async () => (await values('up')).join() === '1,0');
    const lines = service.log.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    const logged = (msg: string) => lines.filter((line) => line['msg'] === msg);
    expect(logged('read AUTH_TOKENS_FILE').map(({ tokens }) => tokens)).to.deep.equal([3, 3]);
    expect(logged('the keys of the JWT issuer are known').map(({ count }) => count)).to.deep.equal([1]);
    const unavailable = logged('AUTH_JWKS_URL cannot be read; the keys known so far stay in force');
    expect(unavailable).to.have.length(1);
    expect(unavailable[0]).to.have.nested.property('err.message');
  });

  it('warns if others may read its token file', async () => {
    chmodSync(path('tokens.json'), 0o644);
    service.reload!();
    expect(service.log.at(-1)).to.include(
      'other users of this machine may read or change AUTH_TOKENS_FILE; give it mode 0600 or 0640',
    );
  });

  it('answers 503, not 401, to a token whose key cannot be fetched', async () => {
    const next = await signingKey('next');
    await issuer.die();
    const answer = await service.ask(`Bearer ${await jwt({}, {}, next)}`);
    expect(answer.headers['retry-after']).to.match(/^[0-9]+$/);
    expect(answer).to.include({
      status: 503,
      error: 50300,
      message: 'the service cannot do this now; nothing was changed',
    });
  });

  it('serves all other users while the issuer is unavailable', async () => {
    const known = await jwt();
    await plantsOf(known);
    await issuer.die();
    for (const token of ['a1', 'c1', known, await jwt({ sub: 'dave' })]) await plantsOf(token);
    expect((await service.ask('Bearer unknown')).status).to.equal(401);
  });

  it('fetches no keys after shutdown', async () => {
    await plantsOf(await jwt());
    issuer.fallSilent();
    const other = await start();
    await issuer.asked(2);
    await other.stop();
    const log = other.log.join('');
    writeTokens({});
    await until(async () => (await issuer.connections()) === 0);
    await pause(300);
    expect(other.log.join('')).to.equal(log);
  });

  it('logs why a token is invalid, and tells it no client', async () => {
    const past = Math.floor(Date.now() / 1000) - 60;
    const tokens = {
      token_issuer: await jwt({ iss: 'https://id.example' }),
      token_expired: await jwt({ exp: past }),
      token_unknown_key: await jwt({}, { kid: 'next' }),
      token_malformed: 'of-no-user',
    };
    const answers = [];
    for (const token of Object.values(tokens)) answers.push((await service.ask(`Bearer ${token}`)).text);
    expect(new Set(answers)).to.have.length(1);
    const logged = service.log.map((line) => (JSON.parse(line) as { readonly reason?: string }).reason);
    expect(logged.filter((reason) => reason !== undefined)).to.deep.equal(Object.keys(tokens));
  });

  it('logs no token, valid or invalid', async () => {
    const tokens = ['a1-unlikely', 'b1-unlikely', await jwt(), await jwt({ sub: 'x' }, { kid: 'next' })];
    writeTokens({ alice: tokens.slice(0, 1) });
    service.reload!();
    await issuer.die();
    for (const token of tokens) await service.ask(`Bearer ${token}`);
    expect(service.log.join(''))
      .to.include('"status":503')
      .and.include('"status":401')
      .and.include('"status":200');
    for (const token of tokens) {
      for (const piece of [...token.split('.'), tokenDigest(token)])
        expect(service.log.join('')).not.to.include(piece);
    }
  });
});
