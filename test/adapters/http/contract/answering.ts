import { expect } from 'chai';
import fc from 'fast-check';
import { allMembers } from '../../../domain/arbitraries';
import { type HttpRequest, exchange } from '../../../support/client';
import type { Subject } from './http-contract';

export function answering(service: Subject): void {
  // The other promises about responses are checked with every exchange; see client.ts.
  describe('A response', () => {
    it('carries the request id of the request if it is well-formed, and else a new one', async () => {
      const user = service.user();
      const idOf = async (id: string) =>
        (await user.get('/plants', { 'X-Request-Id': id })).headers['x-request-id'];
      expect(await idOf('abc-123_x.y')).to.equal('abc-123_x.y');
      expect(await idOf('x'.repeat(64))).to.equal('x'.repeat(64));
      for (const id of ['x'.repeat(65), 'a b', 'a;b', '', 'ü']) {
        expect(await idOf(id)).to.match(/^[0-9a-f-]{36}$/);
      }
    });

    it('is not stored by caches unless it is a list', async () => {
      const user = service.user();
      expect((await user.post({ id: 1, name: 'Fern' })).headers['cache-control']).to.equal('no-store');
      expect((await user.delete(1)).headers['cache-control']).to.equal('no-store');
      expect((await user.delete(1)).headers['cache-control']).to.equal('no-store');
    });

    it('repeats no input of a failed request', async () => {
      const mark = 'zq7Marker';
      const { token } = service.user();
      const authorized = { Authorization: `Bearer ${token}` };
      const json = { ...authorized, 'Content-Type': 'application/json' };
      const messages: HttpRequest[] = [
        { path: `/${mark}` },
        { path: `/plants/${mark}`, method: 'DELETE', headers: authorized },
        { path: `/plants?limit=${mark}`, headers: authorized },
        { path: `/plants?cursor=${mark}`, headers: authorized },
        { path: `/plants?limit[${mark}]=1`, headers: authorized },
        { path: '/plants', headers: { Authorization: `Bearer ${mark}` } },
        { path: '/plants', headers: { Authorization: `${mark} x` } },
        { path: '/plants', headers: { ...authorized, 'X-Request-Id': `${mark} ${mark}` } },
        { path: '/plants', headers: { ...authorized, Expect: mark } },
        {
          path: '/plants',
          method: 'POST',
          headers: { ...authorized, 'Content-Type': `text/${mark}` },
          body: mark,
        },
        { path: '/plants', method: 'POST', headers: { ...json, 'Content-Encoding': mark }, body: mark },
        { path: '/plants', method: 'POST', headers: json, body: mark },
        { path: '/plants', method: 'POST', headers: json, body: `{"${mark}":1,"${mark}":2}` },
        { path: '/plants', method: 'POST', headers: json, body: `{"id":"${mark}","name":"x"}` },
        { path: '/plants', method: 'POST', headers: json, body: `{"id":1,"name":["${mark}"]}` },
        { path: '/plants', method: 'POST', headers: json, body: `"${mark}"` },
      ];
      for (const message of messages) {
        const answer = await exchange(service.url, message);
        const all = JSON.stringify(answer.headers) + answer.text;
        expect(all, JSON.stringify(message)).not.to.contain(mark).and.not.to.contain(token);
        if (message.headers?.['X-Request-Id'] === undefined) expect(answer.status).to.be.within(400, 499);
      }
    });

    it('to any posted JSON is a plant or an error 4xx of the contract', async () => {
      const user = service.user();
      const almost = fc.record(
        {
          id: fc.oneof(fc.integer(), fc.jsonValue()),
          ...allMembers(() => fc.oneof(fc.string(), fc.jsonValue())),
        },
        { requiredKeys: [] },
      );
      const cut = fc.tuple(fc.json(), fc.nat()).map(([text, at]) => text.slice(0, at % (text.length + 1)));
      const body = fc.oneof(
        almost.map((value) => JSON.stringify(value)),
        fc.json(),
        cut,
        fc.string(),
      );
      await fc.assert(
        fc.asyncProperty(body, async (text) => {
          const { status, error } = await user.post(text);
          if (status === 200) return;
          expect(status).to.equal(400);
          expect([40001, 40002, 40003]).to.include(error);
          expect(error === 40001, `${text} is JSON, or is not`).to.equal(!isJson(text));
        }),
        { numRuns: process.env['LONG'] ? 5000 : 200 },
      );
    });
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
