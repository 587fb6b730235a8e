/** The checks of every JWT, with a shared secret as the key. RFC 8725, section by section. */
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { CompactSign, EncryptJWT, SignJWT, UnsecuredJWT } from 'jose';
import { JsonWebTokens } from '../../../src/adapters/auth/json-web-tokens';
import { sharedSecret } from '../../../src/adapters/auth/jwt-keys';
import type { TokenFault } from '../../../src/application';
import { AUDIENCE, ISSUER, NOW, SECOND, SECRET, goodClaims, part, signed, signingKey } from './signing';

describe('A signed JWT', () => {
  let now: number;
  let tokens: JsonWebTokens;
  const options = { issuer: ISSUER, audience: AUDIENCE, calendar: () => now };

  beforeEach(() => {
    now = NOW;
    tokens = new JsonWebTokens(sharedSecret(SECRET), options);
  });

  it('identifies its subject', async () => {
    expect(await tokens.authenticate(await signed(SECRET))).to.equal('alice');
  });

  const good: Record<string, () => string | Promise<string>> = {
    'has several audiences, including this service': () => signed(SECRET, { aud: ['roses', AUDIENCE] }),
    'has been expired for less than 30 s': () => signed(SECRET, { exp: SECOND - 29 }),
    'becomes valid within 30 s': () => signed(SECRET, { nbf: SECOND + 30 }),
    'has no iat': () => signed(SECRET, { iat: undefined }),
    'has the type JWT': () => signed(SECRET, {}, { typ: 'JWT' }),
    'has the type of an access token': () => signed(SECRET, {}, { typ: 'at+jwt' }),
    'has that type spelt out': () => signed(SECRET, {}, { typ: 'application/AT+JWT' }),
    'is signed with a longer hash': () => signed(SECRET, {}, { alg: 'HS512' }),
    'names a key although there is only one': () => signed(SECRET, {}, { kid: 'main' }),
    'is 4096 characters long': () => sized(4096),
    'is encoded by hand': () => hmac({ alg: 'HS256' }),
    'is encoded from bytes': () => raw(JSON.stringify(goodClaims())),
  };
  for (const [what, make] of Object.entries(good)) {
    it(`is valid if it ${what}`, async () => {
      expect(await tokens.authenticate(await make())).to.equal('alice');
    });
  }

  for (const name of [
    'a',
    'é'.repeat(255),
    '🌱'.repeat(255),
    '{',
    '}:{alice}',
    'a/b',
    'auth0|5f',
    ' ',
    '\0',
  ]) {
    it(`identifies any user: ${JSON.stringify(name).slice(0, 20)}`, async () => {
      expect(await tokens.authenticate(await signed(SECRET, { sub: name }))).to.equal(name);
    });
  }

  const bad: Record<string, readonly [TokenFault, () => string | Promise<string>]> = {
    // 3.1, 3.2: algorithms
    'is not signed (alg none)': ['malformed', () => new UnsecuredJWT(goodClaims()).encode()],
    'is not signed (alg NoNe)': ['malformed', () => `${part({ alg: 'NoNe' })}.${part(goodClaims())}.`],
    'has the algorithm none and a signature': ['algorithm', () => hmac({ alg: 'none' })],
    'names no algorithm': ['malformed', () => hmac({})],
    'names an unknown algorithm': ['algorithm', () => hmac({ alg: 'HS1' })],
    'names its algorithm in small letters': ['algorithm', () => hmac({ alg: 'hs256' })],
    'is signed with a key pair, where a secret is shared': [
      'algorithm',
      async () => signed(await signingKey('k')),
    ],
    // 3.3: all of the cryptography
    'is signed with another secret': ['signature', () => signed(SECRET.map((byte) => byte ^ 1))],
    'has lost its signature': ['malformed', async () => (await signed(SECRET)).replace(/[^.]+$/, '')],
    'has another signature': ['signature', async () => (await signed(SECRET)).replace(/[^.]+$/, 'AAAA')],
    'has a part of its signature': ['signature', async () => (await signed(SECRET)).slice(0, -8)],
    'has another header than was signed': [
      'signature',
      async () => spliced(await signed(SECRET), 0, { alg: 'HS256', x: 1 }),
    ],
    'has other claims than were signed': [
      'signature',
      async () => spliced(await signed(SECRET), 1, { ...goodClaims(), sub: 'bob' }),
    ],
    'is encrypted': [
      'malformed',
      () =>
        new EncryptJWT(goodClaims()).setProtectedHeader({ alg: 'dir', enc: 'A256CBC-HS512' }).encrypt(SECRET),
    ],
    'contains another JWT instead of claims': ['malformed', async () => raw(await signed(SECRET))],
    // 3.7: UTF-8 and JSON
    'has claims that are not UTF-8': [
      'malformed',
      () => raw(Buffer.from(JSON.stringify({ ...goodClaims(), sub: '\u00e9' }), 'latin1')),
    ],
    'has claims that are not JSON': ['malformed', () => raw('sub=alice')],
    'has claims that are not an object': ['malformed', () => raw('["alice"]')],
    'has a header that is not JSON': ['malformed', () => `${part('alg')}.${part(goodClaims())}.AAAA`],
    'has a header that is not an object': ['malformed', () => `${part('null')}.${part(goodClaims())}.AAAA`],
    // 3.8: issuer and subject
    'is from another issuer': ['issuer', () => signed(SECRET, { iss: 'https://id.example/realms/orchard' })],
    'is from an issuer whose name begins the same': ['issuer', () => signed(SECRET, { iss: `${ISSUER}/` })],
    'is from two issuers': ['issuer', () => signed(SECRET, { iss: [ISSUER, 'https://evil.example'] })],
    'has no issuer': ['issuer', () => signed(SECRET, { iss: undefined })],
    'has no subject': ['subject', () => signed(SECRET, { sub: undefined })],
    'has an empty subject': ['subject', () => signed(SECRET, { sub: '' })],
    'has a subject of 256 characters': ['subject', () => signed(SECRET, { sub: 'n'.repeat(256) })],
    'has a number as its subject': ['subject', () => signed(SECRET, { sub: 7 })],
    'has a lone surrogate in its subject': [
      'subject',
      () => raw(JSON.stringify(goodClaims()).replace('alice', '\\ud800')),
    ],
    // 3.9: audience
    'has another audience': ['audience', () => signed(SECRET, { aud: 'roses' })],
    'is for several others': ['audience', () => signed(SECRET, { aud: ['roses', 'plants2', 'PLANTS'] })],
    'has no aud': ['audience', () => signed(SECRET, { aud: undefined })],
    'has an empty list of audiences': ['audience', () => signed(SECRET, { aud: [] })],
    // 3.10, 3.11: what is received is not trusted; types of tokens are not confused
    'demands an extension': [
      'malformed',
      () =>
        new SignJWT(goodClaims())
          .setProtectedHeader({ alg: 'HS256', crit: ['x'], x: 1 })
          .sign(SECRET, { crit: { x: true } }),
    ],
    'demands even an extension that changes nothing': [
      'malformed',
      () => hmac({ alg: 'HS256', crit: ['b64'], b64: true }),
    ],
    'demands nothing, as an extension': ['malformed', () => hmac({ alg: 'HS256', crit: [] })],
    'is a logout token': ['type', () => signed(SECRET, {}, { typ: 'logout+jwt' })],
    'is a DPoP proof': ['type', () => signed(SECRET, {}, { typ: 'dpop+jwt' })],
    'has a type that is not text': ['type', () => hmac({ alg: 'HS256', typ: ['JWT'] })],
    // Lifetime
    'never expires': ['claims', () => signed(SECRET, { exp: undefined })],
    'has been expired for 30 s': ['expired', () => signed(SECRET, { exp: SECOND - 30 })],
    'has an exp that is not a number': ['claims', () => signed(SECRET, { exp: `${SECOND + 300}` })],
    'becomes valid in more than 30 s': ['not_yet_valid', () => signed(SECRET, { nbf: SECOND + 31 })],
    'has an nbf that is not a number': ['not_yet_valid', () => signed(SECRET, { nbf: '0' })],
    // Size and shape
    'is 4097 characters long': ['malformed', () => sized(4097)],
    'has two parts': ['malformed', async () => (await signed(SECRET)).split('.').slice(0, 2).join('.')],
    'has four parts': ['malformed', async () => `${await signed(SECRET)}.AAAA`],
    'has padding': ['malformed', async () => `${await signed(SECRET)}=`],
    'has something before it': ['malformed', async () => `\n${await signed(SECRET)}`],
    'has a trailing line feed': ['malformed', async () => `${await signed(SECRET)}\n`],
    'is not a JWT': ['malformed', () => 'secret'],
    'is empty': ['malformed', () => ''],
  };
  for (const [what, [fault, make]] of Object.entries(bad)) {
    it(`is rejected as ${fault} if it ${what}`, async () => {
      const told: TokenFault[] = [];
      expect(await tokens.authenticate(await make(), (known) => told.push(known))).to.be.undefined;
      expect(told).to.deep.equal([fault]);
    });
  }

  it('may use a hash only if the secret is as long', async () => {
    const algorithms = (length: number) => sharedSecret(SECRET.slice(0, length)).algorithms;
    expect(algorithms(32)).to.deep.equal(['HS256']);
    expect(algorithms(47)).to.deep.equal(['HS256']);
    expect(algorithms(48)).to.deep.equal(['HS256', 'HS384']);
    expect(algorithms(64)).to.deep.equal(['HS256', 'HS384', 'HS512']);
    expect(() => algorithms(31)).to.throw(RangeError, 'too short');

    const secret = SECRET.slice(0, 32);
    const short = new JsonWebTokens(sharedSecret(secret), options);
    expect(await short.authenticate(await signed(secret))).to.equal('alice');
    expect(await short.authenticate(hmac({ alg: 'HS384' }, secret))).to.be.undefined;
  });

  describe('after it was verified', () => {
    function counting(cacheSize?: number) {
      const secret = sharedSecret(SECRET);
      const keys = {
        ...secret,
        verifications: 0,
        find(...args: Parameters<typeof secret.find>) {
          keys.verifications++;
          return secret.find(...args);
        },
      };
      return {
        keys,
        tokens: new JsonWebTokens(keys, { ...options, ...(cacheSize === undefined ? {} : { cacheSize }) }),
      };
    }

    it('is not verified again', async () => {
      const { keys, tokens } = counting();
      const token = await signed(SECRET);
      // It expires 300 s after NOW, and 30 s more are tolerated.
      for (now of [NOW, NOW + 1, NOW + 329_999]) expect(await tokens.authenticate(token)).to.equal('alice');
      expect(keys.verifications).to.equal(1);
    });

    it('is cached by its digest: another token of the same user is verified', async () => {
      const { keys, tokens } = counting();
      const [one, other] = [await signed(SECRET), await signed(SECRET, { jti: '2' })];
      expect(await tokens.authenticate(one)).to.equal('alice');
      expect(await tokens.authenticate(other)).to.equal('alice');
      expect(await tokens.authenticate(`${one.slice(0, -1)}${one.endsWith('A') ? 'B' : 'A'}`)).to.be
        .undefined;
      expect(keys.verifications).to.equal(3);
    });

    it('is valid until it expires, exactly as if it were verified again', async () => {
      for (const { tokens } of [counting(), counting(0)]) {
        now = NOW;
        const token = await signed(SECRET, { exp: SECOND + 300 });
        expect(await tokens.authenticate(token)).to.equal('alice');
        now = NOW + 329_999;
        expect(await tokens.authenticate(token)).to.equal('alice');
        now = NOW + 330_000;
        expect(await tokens.authenticate(token)).to.be.undefined;
      }
    });

    it('is verified again after it was evicted', async () => {
      const { keys, tokens } = counting(2);
      const made = await Promise.all(['1', '2', '3'].map((jti) => signed(SECRET, { jti })));
      const ask = async (index: number) => {
        expect(await tokens.authenticate(made[index]!)).to.equal('alice');
        return keys.verifications;
      };
      for (const first of [0, 1]) await ask(first);
      expect(await ask(0), 'cached, and now the most recently used').to.equal(2);
      expect(await ask(2), 'evicts the least recently used').to.equal(3);
      expect(await ask(0), 'still cached').to.equal(3);
      expect(await ask(1), 'evicted').to.equal(4);
    });

    it('is not cached if the keys changed while it was verified', async () => {
      const [withdrawn, other] = [await signed(SECRET), await signed(SECRET, { jti: '2' })];
      const secret = sharedSecret(SECRET);
      let verifications = 0;
      const keys = {
        ...secret,
        generation: 0,
        async find(...args: Parameters<typeof secret.find>) {
          const key = await secret.find(...args);
          if (++verifications === 1) {
            keys.generation++;
            await tokens.authenticate(other);
          }
          return key;
        },
      };
      const tokens = new JsonWebTokens(keys, options);
      await tokens.authenticate(withdrawn);
      expect(verifications).to.equal(2);
      await tokens.authenticate(withdrawn);
      expect(verifications).to.equal(3);
    });

    it('is not cached if it is invalid', async () => {
      const { keys, tokens } = counting();
      const early = await signed(SECRET, { nbf: SECOND + 60 });
      expect(await tokens.authenticate(early)).to.be.undefined;
      now += 60_000;
      expect(await tokens.authenticate(early)).to.equal('alice');
      expect(keys.verifications).to.equal(2);
    });
  });
});

/** A token with a header that jose would not create. */
function hmac(header: object, secret = SECRET): string {
  const input = `${part(header)}.${part(goodClaims())}`;
  const name = `sha${/\d{3}$/.exec(String((header as { alg?: unknown }).alg))?.[0] ?? '256'}`;
  return `${input}.${createHmac(name, secret).update(input).digest('base64url')}`;
}

/** A token with any payload, properly signed. */
function raw(payload: string | Uint8Array): Promise<string> {
  return new CompactSign(Buffer.from(payload)).setProtectedHeader({ alg: 'HS256' }).sign(SECRET);
}

function spliced(token: string, index: number, value: object): string {
  return token.split('.').with(index, part(value)).join('.');
}

/** A valid token of the given length. */
async function sized(length: number): Promise<string> {
  for (let padding = 2500; padding < 3200; padding++) {
    const token = await signed(SECRET, { padding: 'p'.repeat(padding) }, { x: 'x' });
    if (token.length === length) return token;
    // A base64url text is never 4n+1 characters long; the header shifts the rest.
    const shifted = await signed(SECRET, { padding: 'p'.repeat(padding) }, { x: 'xx' });
    if (shifted.length === length) return shifted;
  }
  throw new Error(`no token has ${length} characters`);
}
