/** JWTs of an issuer that publishes its keys, and all faults of that issuer. */
import { createHmac, createPublicKey, generateKeyPairSync, sign as signBytes } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { exportJWK } from 'jose';
import {
  COOL_DOWN_MS,
  IssuerKeys,
  REFRESH_EVERY_MS,
  RETRY_EVERY_MS,
} from '../../../src/adapters/auth/issuer-keys';
import { JsonWebTokens } from '../../../src/adapters/auth/json-web-tokens';
import { AuthenticationUnavailable } from '../../../src/application';
import { JwksServer } from '../../support/jwks-server';
import { ManualClock } from '../../support/manual-clock';
import { untilIdle } from '../../support/manual-clock';
import { rejection } from '../../support/rejection';
import { until } from '../../support/until';
import { AUDIENCE, ISSUER, NOW, type SigningKey, goodClaims, part, signed, signingKey } from './signing';

const TIMEOUT_MS = 3000;

describe('JWTs of an issuer that publishes its keys', () => {
  let first: SigningKey;
  let second: SigningKey;
  let issuer: JwksServer;
  let clock: ManualClock;
  let notifications: string[];
  let keys: IssuerKeys;
  let tokens: JsonWebTokens;

  before(async () => {
    first = await signingKey('first');
    second = await signingKey('second');
  });
  beforeEach(async () => {
    issuer = await JwksServer.start(first.jwk);
    clock = new ManualClock();
    notifications = [];
  });
  afterEach(async () => {
    keys.close();
    await issuer.die();
  });

  /** Opens the keys, and waits until the first fetch has succeeded or failed. */
  async function open(url = issuer.url): Promise<void> {
    keys = IssuerKeys.open({
      url,
      clock,
      observer: {
        fetched: () => {},
        changed: ({ count }) => notifications.push(`changed: ${count}`),
        unavailable: (cause) => notifications.push(`unavailable: ${(cause as Error).message}`),
      },
    });
    tokens = new JsonWebTokens(keys, { issuer: ISSUER, audience: AUDIENCE, calendar: () => NOW });
    await until(() => notifications.length > 0);
    await untilIdle();
  }

  const ask = (token: string) => tokens.authenticate(token);

  it('are valid if they are signed with a published key', async () => {
    await open();
    expect(await ask(await signed(first))).to.equal('alice');
  });

  it('cause one fetch of the keys, for any number of tokens', async () => {
    await open();
    for (let i = 0; i < 20; i++) expect(await ask(await signed(first, { jti: `${i}` }))).to.equal('alice');
    expect(issuer.questions).to.equal(1);
  });

  it('cause a fetch of uncompressed JSON', async () => {
    await open();
    expect(issuer.headers).to.include({
      accept: 'application/jwk-set+json, application/json',
      'accept-encoding': 'identity',
    });
  });

  it('cause a fetch over TLS if the URL is one of https', async () => {
    const server = createServer();
    const firstByte = new Promise<number>((resolve) => {
      server.on('connection', (socket) =>
        socket.once('data', (bytes) => {
          resolve(bytes[0]!);
          socket.destroy();
        }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await open(new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`));
    // Of a TLS handshake (RFC 8446, 5.1).
    expect(await firstByte).to.equal(22);
    server.close();
  });

  it('wait for the first fetch instead of being rejected', async () => {
    const answer = issuer.hold();
    keys = IssuerKeys.open({
      url: issuer.url,
      clock,
      observer: { fetched() {}, changed() {}, unavailable() {} },
    });
    tokens = new JsonWebTokens(keys, { issuer: ISSUER, audience: AUDIENCE, calendar: () => NOW });
    await issuer.asked(1);
    const asked = ask(await signed(first));
    await untilIdle();
    answer();
    expect(await asked).to.equal('alice');
  });

  const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
  for (const alg of [...RSA, 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']) {
    it(`may be signed with ${alg}`, async () => {
      const key = await signingKey('k', alg);
      issuer.publish(key.jwk);
      await open();
      expect(await ask(await signed(key))).to.equal('alice');
    });
  }

  describe('when the issuer rotates its keys', () => {
    it('are valid with the new key at once, and still with the old one', async () => {
      await open();
      issuer.publish(first.jwk, second.jwk);
      expect(await ask(await signed(second))).to.equal('alice');
      expect(await ask(await signed(first))).to.equal('alice');
      expect(issuer.questions).to.equal(2);
    });

    it('are rejected after the next fetch if their key was withdrawn, even if they are cached', async () => {
      await open();
      const token = await signed(first);
      expect(await ask(token)).to.equal('alice');
      issuer.publish(second.jwk);
      await clock.pass(REFRESH_EVERY_MS);
      await until(() => notifications.length === 2);
      expect(await ask(token)).to.be.undefined;
      expect(await ask(await signed(second))).to.equal('alice');
    });

    it('stay cached if a fetch returns the same keys', async () => {
      await open();
      await ask(await signed(first));
      const { generation } = keys;
      await clock.pass(REFRESH_EVERY_MS);
      await issuer.asked(2);
      await until(async () => (await issuer.connections()) === 0);
      await pause(20);
      expect(keys.generation).to.equal(generation);
    });

    it('are not rejected by a fetch that started before they arrived', async () => {
      await open();
      const answer = issuer.hold();
      const early = ask(await signed(second, {}, { kid: 'unknown' }));
      await issuer.asked(2);
      const late = ask(await signed(second));
      await untilIdle();
      answer(); // The keys at the time of the request, without the second key.
      expect(await early).to.be.undefined;
      issuer.publish(first.jwk, second.jwk);
      await clock.pass(COOL_DOWN_MS);
      expect(await late).to.equal('alice');
    });
  });

  describe('with unknown keys', () => {
    const unknown = (kid: string) => signed(first, {}, { kid });

    it('are rejected after a fetch', async () => {
      await open();
      expect(await ask(await unknown('third'))).to.be.undefined;
      expect(issuer.questions).to.equal(2);
    });

    it('share one fetch, for a thousand tokens', async () => {
      await open();
      const token = await unknown('third');
      const flood = Array.from({ length: 1000 }, () => ask(token));
      expect(new Set(await Promise.all(flood))).to.deep.equal(new Set([undefined]));
      expect(issuer.questions).to.equal(2);
    });

    it('are unavailable beyond a thousand waiting tokens', async () => {
      await open();
      const answer = issuer.hold();
      const token = await unknown('third');
      const flood = Array.from({ length: 1001 }, () => ask(token));
      expect(await rejection(Promise.race(flood)))
        .to.be.instanceOf(AuthenticationUnavailable)
        .with.property('message', 'too many tokens are waiting for the keys of the issuer');
      answer();
      await Promise.allSettled(flood);
      expect(await ask(await signed(first, { jti: 'next' }))).to.equal('alice');
      const next = ask(token);
      await untilIdle();
      await clock.pass(COOL_DOWN_MS);
      expect(await next).to.be.undefined;
    });

    it('cause at most one fetch every two seconds, and wait for it', async () => {
      await open();
      await ask(await unknown('third'));
      for (let i = 0; i < 3; i++) {
        const asked = ask(await unknown(`${i}`));
        await clock.pass(COOL_DOWN_MS - 1);
        expect(await Promise.race([asked, pause(20, 'waiting')])).to.equal('waiting');
        expect(issuer.questions).to.equal(2 + i);
        await clock.pass(1);
        expect(await asked).to.be.undefined;
        expect(issuer.questions).to.equal(3 + i);
      }
    });

    it('do not delay tokens with known keys', async () => {
      await open();
      issuer.fallSilent();
      const waiting = rejection(ask(await unknown('third')));
      await issuer.asked(2);
      expect(await ask(await signed(first))).to.equal('alice');
      await clock.pass(TIMEOUT_MS);
      await waiting;
    });
  });

  const ways: Record<string, [happens: () => void | Promise<void>, says: RegExp]> = {
    'is dead': [() => issuer.die(), /ECONNREFUSED/],
    'answers with an error': [() => issuer.answer('{"keys":[]}', 500), /^answered with status 500$/],
    'answers with a page': [() => issuer.answer('<!doctype html><title>Maintenance</title>'), /JSON/],
    'answers nothing': [() => issuer.answer(''), /JSON/],
    'answers with JSON other than a key set': [() => issuer.answer('{"keys":{}}'), /JSON Web Key Set/],
    'answers with invalid keys': [() => issuer.answer('{"keys":["k"]}'), /JSON Web Key Set/],
    'answers with null': [() => issuer.answer('null'), /JSON Web Key Set/],
    'answers with text that is not UTF-8': [
      () => issuer.answer(Buffer.from('{"keys":[],"x":"\u00e9"}', 'latin1')),
      /utf-8/,
    ],
    redirects: [
      () => issuer.answer('', 302, { location: 'http://127.0.0.1:9/keys' }),
      /^answered with status 302$/,
    ],
    'answers without an end': [() => issuer.ramble(), /^answered with more than 262144 bytes$/],
    'switches protocols': [
      () => issuer.answer('', 101, { connection: 'Upgrade', upgrade: 'websocket' }),
      /^closed the connection without a final response$/,
    ],
  };
  for (const [what, [happens, says]] of Object.entries(ways)) {
    describe(`when the issuer ${what}`, () => {
      it('stay valid with known keys, and are unavailable with others, until the issuer is back', async () => {
        await open();
        await happens();
        const refusal = await rejection(ask(await signed(second)));
        expect(refusal)
          .to.be.instanceOf(AuthenticationUnavailable)
          .with.property('message', 'the keys of the issuer cannot be fetched');
        const { message } = (refusal as Error).cause as Error;
        expect(message).to.match(says);
        expect(notifications.at(-1)).to.equal(`unavailable: ${message}`);
        expect(await ask(await signed(first))).to.equal('alice');

        await issuer.die();
        await issuer.revive();
        issuer.publish(first.jwk, second.jwk);
        await clock.pass(COOL_DOWN_MS);
        expect(await ask(await signed(second))).to.equal('alice');
      });

      it('are unavailable while no keys are known, and valid as soon as they are', async () => {
        await happens();
        await open();
        expect(await rejection(ask(await signed(first)))).to.be.instanceOf(AuthenticationUnavailable);

        await issuer.die();
        await issuer.revive();
        issuer.publish(first.jwk);
        await clock.pass(COOL_DOWN_MS);
        expect(await ask(await signed(first))).to.equal('alice');
      });
    });
  }

  for (const [what, happens] of Object.entries({
    'answers nothing at all': () => issuer.fallSilent(),
    'stops within its answer': () => issuer.stopHalfway(),
  })) {
    it(`are unavailable after three seconds when the issuer ${what}, and at once for two more`, async () => {
      await open();
      happens();
      const refusal = rejection(ask(await signed(second)));
      await issuer.asked(2);
      await clock.pass(TIMEOUT_MS);
      expect(await refusal).to.be.instanceOf(AuthenticationUnavailable);
      expect(notifications.at(-1)).to.equal('unavailable: the issuer did not answer in time');
      expect(await rejection(ask(await signed(second)))).to.be.instanceOf(AuthenticationUnavailable);
      expect(issuer.questions).to.equal(2);

      issuer.publish(second.jwk);
      await clock.pass(COOL_DOWN_MS);
      expect(await ask(await signed(second))).to.equal('alice');
    });
  }

  it('are valid again after the issuer is back, without a fetch by a token', async () => {
    issuer.answer('', 503);
    await open();
    expect(await rejection(ask(await signed(first)))).to.be.instanceOf(AuthenticationUnavailable);
    issuer.publish(first.jwk);
    await clock.pass(RETRY_EVERY_MS);
    await until(() => notifications.includes('changed: 1'));
    expect(await ask(await signed(first))).to.equal('alice');
    expect(issuer.questions).to.equal(2);
  });

  it('wait for a fetch again after the issuer is back', async () => {
    await open();
    issuer.answer('', 503);
    await rejection(ask(await signed(second)));
    issuer.publish(first.jwk);
    await clock.pass(COOL_DOWN_MS);
    expect(await ask(await signed(second))).to.be.undefined;
    const asked = ask(await signed(second));
    await untilIdle();
    await clock.pass(COOL_DOWN_MS);
    expect(await asked).to.be.undefined;
  });

  it('are valid with keys of up to 256 KB', async () => {
    const jwks = JSON.stringify({ keys: [first.jwk] });
    issuer.answer(jwks.padEnd(256 * 1024));
    await open();
    expect(await ask(await signed(first))).to.equal('alice');
    issuer.answer(jwks.padEnd(256 * 1024 + 1));
    expect(await rejection(ask(await signed(second)))).to.be.instanceOf(AuthenticationUnavailable);
  });

  it('leave no connection to the issuer open, for any answer', async () => {
    await open();
    for (const status of [200, 500]) {
      issuer.answer(Buffer.alloc(4_000_000, ' '), status);
      await rejection(ask(await signed(second)));
      await until(async () => (await issuer.connections()) === 0);
      await clock.pass(COOL_DOWN_MS);
    }
  });

  describe('after close', () => {
    it('cause no fetch', async () => {
      await open();
      keys.close();
      expect(clock.waiting).to.equal(0);
      await clock.pass(2 * REFRESH_EVERY_MS);
      expect(issuer.questions).to.equal(1);
    });

    it('abort a fetch without reporting an outage', async () => {
      await open();
      issuer.fallSilent();
      const asked = ask(await signed(second));
      await issuer.asked(2);
      keys.close();
      expect(await rejection(asked)).to.be.instanceOf(AuthenticationUnavailable);
      expect(notifications).to.deep.equal(['changed: 1']);
    });

    it('leave no timer if the first fetch was not answered yet', async () => {
      issuer.fallSilent();
      keys = IssuerKeys.open({
        url: issuer.url,
        clock,
        observer: { fetched() {}, changed() {}, unavailable() {} },
      });
      await issuer.asked(1);
      keys.close();
      await until(async () => (await issuer.connections()) === 0);
      await untilIdle();
      expect(clock.waiting).to.equal(0);
    });
  });

  describe('are rejected', () => {
    let rsa: SigningKey;
    before(async () => (rsa = await signingKey('rsa', 'RS256')));
    beforeEach(async () => {
      issuer.publish(first.jwk, rsa.jwk);
      await open();
    });

    const forged = (header: object, signature: (input: string) => Buffer) => {
      const input = `${part(header)}.${part(goodClaims())}`;
      return `${input}.${signature(input).toString('base64url')}`;
    };
    const hmac = (secret: string | Buffer) => (input: string) =>
      createHmac('sha256', secret).update(input).digest();

    it('if a public key is used as a secret, in any form', async () => {
      const key = createPublicKey({ key: rsa.jwk as Record<string, unknown>, format: 'jwk' });
      const forms = [
        key.export({ type: 'spki', format: 'pem' }),
        key.export({ type: 'pkcs1', format: 'pem' }),
        key.export({ type: 'spki', format: 'der' }),
        JSON.stringify(rsa.jwk),
        Buffer.from(rsa.jwk.n!, 'base64url'),
      ];
      for (const form of forms) {
        expect(await ask(forged({ alg: 'HS256', kid: 'rsa' }, hmac(form)))).to.be.undefined;
        expect(await ask(forged({ alg: 'HS256' }, hmac(form)))).to.be.undefined;
      }
      expect(issuer.questions).to.equal(1);
    });

    it('if the key type does not match the algorithm', async () => {
      expect(await ask(await signed(first, {}, { kid: 'rsa' }))).to.be.undefined;
    });

    it('if they contain their own key, or the address of one', async () => {
      const thief = await signingKey('thief');
      const elsewhere = await JwksServer.start(thief.jwk);
      const url = elsewhere.url.href;
      const token = await signed(thief, {}, { jwk: thief.jwk, jku: url, x5u: url, kid: url });
      expect(await ask(token)).to.be.undefined;
      expect(elsewhere.questions).to.equal(0);
      await elsewhere.die();
    });

    it('if they are signed with another key of the same name', async () => {
      expect(await ask(await signed(await signingKey('first')))).to.be.undefined;
    });

    it('if the signature is all zeros', async () => {
      expect(await ask(forged({ alg: 'ES256', kid: 'first' }, () => Buffer.alloc(64)))).to.be.undefined;
    });

    it('if the key id is invalid', async () => {
      const sign = (input: string) => Buffer.from(input).subarray(0, 64);
      for (const kid of ['__proto__', 'constructor', '', null, 7, ['first'], { toString: 'first' }]) {
        const asked = ask(forged({ alg: 'ES256', kid }, sign));
        await untilIdle();
        await clock.pass(COOL_DOWN_MS);
        expect(await asked, JSON.stringify(kid)).to.be.undefined;
      }
    });
  });

  describe('are rejected with a published key', () => {
    const published: Record<string, () => Promise<readonly [token: string, ...jwks: object[]]>> = {
      'that is for encryption': async () => [await signed(first), { ...first.jwk, use: 'enc' }],
      'that is for another algorithm': async () => {
        const key = await signingKey('k', 'RS256');
        return [await signed(key), { ...key.jwk, alg: 'PS256' }];
      },
      'that is a secret': async () => {
        const secret = Buffer.alloc(32, 7);
        return [
          await signed(secret, {}, { kid: 's' }),
          { kty: 'oct', k: secret.toString('base64url'), kid: 's' },
        ];
      },
      'that is too short (RSA below 2048 bits)': async () => {
        const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
        const input = `${part({ alg: 'RS256', kid: 'k' })}.${part(goodClaims())}`;
        const signature = signBytes('sha256', Buffer.from(input), privateKey).toString('base64url');
        return [`${input}.${signature}`, { ...(await exportJWK(publicKey)), kid: 'k' }];
      },
      'whose name another key has, too': async () => [
        await signed(first),
        first.jwk,
        { ...second.jwk, kid: 'first' },
      ],
    };
    for (const [what, make] of Object.entries(published)) {
      it(what, async () => {
        const [token, ...jwks] = await make();
        issuer.answer(JSON.stringify({ keys: jwks }));
        await open();
        expect(await ask(token)).to.be.undefined;
      });
    }
  });

  it('need no key id if only one key matches', async () => {
    issuer.publish(first.jwk, (await signingKey('rsa', 'RS256')).jwk);
    await open();
    expect(await ask(await signed(first, {}, { kid: undefined }))).to.equal('alice');
  });

  it('are unavailable if the published key is unusable', async () => {
    issuer.answer(JSON.stringify({ keys: [{ ...first.jwk, x: 'AAAA' }] }));
    await open();
    const refusal = await rejection(ask(await signed(first)));
    expect(refusal)
      .to.be.instanceOf(AuthenticationUnavailable)
      .with.property('message', 'a key of the issuer is not usable');
    expect(refusal).to.have.property('cause').that.is.instanceOf(Error);
  });
});
