import { expect } from 'chai';
import type { Subject } from './http-contract';

export function deleting(service: Subject): void {
  describe('DELETE /plants/{id}', () => {
    it('answers 204 without a body, and removes the plant from the list', async () => {
      const user = service.user();
      await user.plants([1, 'Fern'], [2, 'Moss']);
      const { status, text, headers } = await user.delete(1);
      expect({ status, text }).to.deep.equal({ status: 204, text: '' });
      expect(headers).not.to.have.property('content-type');
      expect(await user.names()).to.deep.equal(['Moss']);
    });

    it('answers 404/40401 when the plant never existed, was deleted, or belongs to another user', async () => {
      const [user, other] = [service.user(), service.user()];
      await other.plants([1, 'Fern']);
      await user.plants([2, 'Moss']);
      await user.delete(2);
      for (const id of [1, 2, 3]) {
        const { status, error } = await user.delete(id);
        expect({ status, error }, String(id)).to.deep.equal({ status: 404, error: 40401 });
      }
      expect(await other.names()).to.deep.equal(['Fern']);
    });

    it('frees the id for another plant', async () => {
      const user = service.user();
      await user.plants([1, 'Fern']);
      await user.delete(1);
      await user.plants([1, 'Moss']);
      expect(await user.names()).to.deep.equal(['Moss']);
    });

    for (const id of ['-9223372036854775808', '9223372036854775807', '0', '-1']) {
      it(`accepts the id ${id}`, async () => {
        const user = service.user();
        await user.plants([id, 'Fern']);
        expect((await user.delete(id)).status).to.equal(204);
      });
    }

    for (const id of ['01', '%31', '%zz', '9223372036854775808']) {
      it(`answers 400/40005 to the path id ${id}`, async () => {
        const user = service.user();
        await user.plants([1, 'Fern'], [0, 'Moss']);
        const { status, error } = await user.delete(id);
        expect({ status, error }).to.deep.equal({ status: 400, error: 40005 });
        expect(await user.names()).to.have.length(2);
      });
    }
  });
}
