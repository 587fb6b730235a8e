import { expect } from 'chai';
import fc from 'fast-check';
import { anyPlant } from '../../../domain/arbitraries';
import type { Subject } from './http-contract';

export function creating(service: Subject): void {
  describe('POST /plants', () => {
    it('answers 200 with name and tag, in this order, and never the id', async () => {
      const { status, headers, text } = await service.user().post('{"tag":"indoor","id":1,"name":"Fern"}');
      expect(status).to.equal(200);
      expect(headers['content-type']).to.equal('application/json');
      expect(text).to.equal('{"name":"Fern","tag":"indoor"}');
    });

    it('answers with the name alone if there is no tag, and keeps an empty tag', async () => {
      const user = service.user();
      expect((await user.post({ id: 1, name: 'Fern' })).text).to.equal('{"name":"Fern"}');
      expect((await user.post({ id: 2, name: 'Moss', tag: '' })).text).to.equal('{"name":"Moss","tag":""}');
    });

    for (const [literal, id] of [
      ['7', '7'],
      ['7.0', '7'],
      ['-0', '0'],
      ['9223372036854775807', '9223372036854775807'],
      ['-9223372036854775808', '-9223372036854775808'],
    ]) {
      it(`accepts the JSON number ${literal!} as the id ${id!}`, async () => {
        const user = service.user();
        expect((await user.post(`{"id":${literal!},"name":"Fern"}`)).status).to.equal(200);
        expect((await user.post(`{"id":${id!},"name":"Fern"}`)).error).to.equal(40003);
        expect((await user.delete(id!)).status).to.equal(204);
      });
    }

    it('distinguishes the ids 9007199254740993 and 9007199254740992, which are one number in JavaScript', async () => {
      const user = service.user();
      await user.plants(['9007199254740993', 'Fern'], ['9007199254740992', 'Moss']);
      expect((await user.delete('9007199254740993')).status).to.equal(204);
      expect(await user.names()).to.deep.equal(['Moss']);
    });

    for (const id of ['"7"', '7.5', '9223372036854775808']) {
      it(`answers 400/40002 to the id ${id}`, async () => {
        const user = service.user();
        const { status, error, message } = await user.post(`{"id":${id},"name":"Fern"}`);
        expect({ status, error }).to.deep.equal({ status: 400, error: 40002 });
        expect(message).to.match(/\bid\b/);
        expect(await user.names()).to.deep.equal([]);
      });
    }

    for (const [what, body, member] of [
      ['no id', '{"name":"Fern"}', 'id'],
      ['no name', '{"id":1}', 'name'],
      ['an empty name', '{"id":1,"name":""}', 'name'],
      ['a name that is not a string', '{"id":1,"name":7}', 'name'],
      ['a name that is null', '{"id":1,"name":null}', 'name'],
      ['a lone surrogate in the name', '{"id":1,"name":"a\\ud800"}', 'name'],
      ['a tag that is null', '{"id":1,"name":"Fern","tag":null}', 'tag'],
      ['a tag that is not a string', '{"id":1,"name":"Fern","tag":[]}', 'tag'],
      ['a lone surrogate in the tag', '{"id":1,"name":"Fern","tag":"\\udc00"}', 'tag'],
      ['a name in the prototype only', '{"id":1,"__proto__":{"name":"Fern"}}', 'name'],
      ['an array', '[]', 'object'],
      ['a string', '"Fern"', 'object'],
      ['null', 'null', 'object'],
      ['a number', '7', 'object'],
    ]) {
      it(`answers 400/40002 to ${what!}, with a message that names ${member!}`, async () => {
        const { status, error, message } = await service.user().post(body!);
        expect({ status, error }).to.deep.equal({ status: 400, error: 40002 });
        expect(message).to.contain(member);
      });
    }

    it('answers 400/40003 when the id belongs to a living plant of the user, and keeps that plant', async () => {
      const user = service.user();
      await user.plants([1, 'Fern']);
      const { status, error } = await user.post({ id: 1, name: 'Moss' });
      expect({ status, error }).to.deep.equal({ status: 400, error: 40003 });
      expect(await user.names()).to.deep.equal(['Fern']);
    });

    it('ignores other members, also those that could pollute a prototype', async () => {
      const user = service.user();
      const body =
        '{"id":1,"name":"Fern","colour":"green","__proto__":{"tag":"x"},"constructor":{"prototype":{"tag":"y"}}}';
      expect((await user.post(body)).text).to.equal('{"name":"Fern"}');
      expect((await user.get('/plants')).text).to.equal('[{"name":"Fern"}]');
      expect({}).not.to.have.property('tag');
    });

    it('keeps each member character for character', async () => {
      const user = service.user();
      const plants = fc.uniqueArray(fc.tuple(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), anyPlant), {
        selector: ([id]) => id,
        maxLength: 8,
      });
      await fc.assert(
        fc.asyncProperty(plants, async (created) => {
          for (const [id, plant] of created) {
            const members = JSON.stringify(plant);
            expect((await user.post(`{"id":${id},${members.slice(1)}`)).text).to.equal(members);
          }
          const expected = created.map(([, plant]) => plant);
          expect((await user.get('/plants')).text).to.equal(JSON.stringify(expected));
          for (const [id] of created) expect((await user.delete(id)).status).to.equal(204);
        }),
        { numRuns: 30 },
      );
    });
  });
}
