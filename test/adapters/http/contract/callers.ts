import { expect } from 'chai';
import { exchange } from '../../../support/client';
import type { Subject } from './http-contract';

const CHALLENGE = 'Bearer realm="plants"';

export function callers(service: Subject): void {
  describe('Authentication', () => {
    for (const [what, authorization] of [
      ['without credentials', undefined],
      ['with credentials of another scheme', 'Basic dXNlcjpwYXNz'],
      ['with a scheme that only begins with Bearer', 'BearerX token-0'],
      ['with an empty field Authorization', ''],
    ] as const) {
      it(`answers 401/40100 and a plain challenge to a request ${what}`, async () => {
        const headers = authorization === undefined ? {} : { Authorization: authorization };
        const answer = await exchange(service.url, { path: '/plants', headers });
        expect(answer).to.include({ status: 401, error: 40100 });
        expect(answer.headers['www-authenticate']).to.equal(CHALLENGE);
      });
    }

    for (const [what, authorization] of [
      ['an unknown token', 'Bearer unknown'],
      ['an unknown token with the scheme in lower case', 'bearer unknown'],
      ['an unknown token with the scheme in capitals', 'BEARER unknown'],
      ['the scheme without a token', 'Bearer'],
      ['two tokens', 'Bearer token-0 token-0'],
      ['a token with invalid characters', 'Bearer tok"en'],
      ['padding alone', 'Bearer ==='],
      ['a token in capitals', 'Bearer TOKEN-0'],
      ['the beginning of a token', 'Bearer token-'],
      ['a very long token', `Bearer ${'x'.repeat(10_000)}`],
    ] as const) {
      it(`answers 401/40101 and the challenge invalid_token to ${what}`, async () => {
        const answer = await exchange(service.url, {
          path: '/plants',
          headers: { Authorization: authorization },
        });
        expect(answer).to.include({ status: 401, error: 40101 });
        expect(answer.headers['www-authenticate']).to.equal(`${CHALLENGE}, error="invalid_token"`);
      });
    }

    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  ']) {
      it(`accepts the scheme written as "${scheme}"`, async () => {
        const { token } = service.user();
        const headers = { Authorization: `${scheme} ${token}` };
        expect((await exchange(service.url, { path: '/plants', headers })).status).to.equal(200);
      });
    }

    it('comes before any other check of a request', async () => {
      for (const message of [
        { path: '/plants?limit=x' },
        { path: '/plants/01', method: 'DELETE' },
        { path: '/plants/' },
        { path: '/plants/1/leaves' },
        { path: '/plants', method: 'PUT' },
        { path: '/plants', method: 'OPTIONS' },
        { path: '/plants', method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'x' },
        { path: '/plants', method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{' },
      ]) {
        const { status, error } = await exchange(service.url, message);
        expect({ status, error }, JSON.stringify(message)).to.deep.equal({ status: 401, error: 40100 });
      }
    });

    it('gives each user its own plants and its own ids', async () => {
      const [user, other] = [service.user(), service.user()];
      await user.plants([1, 'Fern']);
      await other.plants([1, 'Moss']);
      expect(await user.names()).to.deep.equal(['Fern']);
      expect(await other.names()).to.deep.equal(['Moss']);
    });

    it('shows one user the same plants with each of its two tokens', async () => {
      const [one, two] = service.twin();
      await one.plants([1, 'Fern']);
      expect(await two.names()).to.deep.equal(['Fern']);
      expect((await two.post({ id: 1, name: 'Moss' })).error).to.equal(40003);
      expect((await two.delete(1)).status).to.equal(204);
      expect(await one.names()).to.deep.equal([]);
    });
  });
}
