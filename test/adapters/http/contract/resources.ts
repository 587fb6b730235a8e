import { expect } from 'chai';
import { exchange } from '../../../support/client';
import type { Subject } from './http-contract';

export function resources(service: Subject): void {
  describe('A path', () => {
    for (const path of ['/plants/', '/plants/1/', '/plants/1/leaves', '/plants//1']) {
      it(`${path} answers 404/40400`, async () => {
        const { status, error } = await service.user().get(path);
        expect({ status, error }).to.deep.equal({ status: 404, error: 40400 });
      });
    }

    for (const path of [
      '/nothing',
      '/PLANTS',
      '/Plants',
      '//plants',
      '/plants%2F1',
      '/%70lants',
      '/plantsx',
      '/./plants',
      '/x/../plants',
      '/favicon.ico',
    ]) {
      it(`${path} answers 404/40400, also without a token`, async () => {
        for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
          const { status, error } = await exchange(service.url, { method, path });
          expect({ status, error }, method).to.deep.equal({ status: 404, error: 40400 });
        }
      });
    }
  });

  describe('A method', () => {
    it('cannot be overridden by a header field', async () => {
      const user = service.user();
      await user.plants([1, 'Fern']);
      const { status } = await user.get('/plants', { 'X-HTTP-Method-Override': 'POST' });
      expect(status).to.equal(200);
      expect(
        (await user.send({ path: '/plants/1', headers: { 'X-HTTP-Method-Override': 'DELETE' } })).status,
      ).to.equal(405);
    });
  });
}
