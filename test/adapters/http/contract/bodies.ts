import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { BODY_LIMIT, type Subject } from './http-contract';

const FERN = '{"id":1,"name":"Fern"}';
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));
const nested = (depth: number) => `{"id":1,"name":"Fern","x":${'['.repeat(depth)}${']'.repeat(depth)}}`;

const padded = (length: number) => FERN.padEnd(length, ' ');

export function bodies(service: Subject): void {
  describe('POST /plants', () => {
    for (const [what, body] of [
      ['an empty body', ''],
      ['half an object', '{"id":1,"name":"Fern"'],
      ['a raw control character in a string', '{"id":1,"name":"Fe\nrn"}'],
      ['white space that JSON does not allow', `\u00a0${FERN}`],
      ['invalid UTF-8', bytes('{"id":1,"name":"', [0xff], '"}')],
      ['an overlong encoding', bytes('{"id":1,"name":"', [0xc0, 0xaf], '"}')],
      ['a surrogate in UTF-8', bytes('{"id":1,"name":"', [0xed, 0xa0, 0x80], '"}')],
      ['a truncated character', bytes('{"id":1,"name":"Fern"}', [0xe2, 0x82])],
      ['a BOM', `\ufeff${FERN}`],
      ['UTF-16', Buffer.from(FERN, 'utf16le')],
      ['arrays nested 1,000 deep in its object', nested(1000)],
      ['objects nested 20,000 deep', '{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000)],
      ['arrays nested 20,000 deep', '['.repeat(20_000) + ']'.repeat(20_000)],
      ['a member twice with different values', '{"id":1,"name":"Fern","name":"Moss"}'],
      [
        'an id twice, different in the last digit only',
        '{"id":9007199254740993,"id":9007199254740992,"name":"Fern"}',
      ],
      ['an ignored member twice with different values', '{"id":1,"name":"Fern","x":1,"x":2}'],
      ['a member twice further down', '{"id":1,"name":"Fern","x":[{"y":1,"y":2}]}'],
      ['a member twice, once in escapes', '{"id":1,"name":"Fern","n\\u0061me":"Moss"}'],
    ] as const) {
      it(`answers 400/40001 to ${what}`, async () => {
        const user = service.user();
        const { status, error } = await user.post(body);
        expect({ status, error }).to.deep.equal({ status: 400, error: 40001 });
        expect(await user.names()).to.deep.equal([]);
      });
    }

    for (const [what, body] of [
      ['with a member twice, of the same value', '{"id":7,"id":7.0,"name":"Fern","name":"Fern"}'],
      ['with arrays nested 999 deep in its object', nested(999)],
      ['with a member in escapes', '{"\\u0069d":1,"n\\u0061me":"\\u0046ern"}'],
      ['with an escaped pair of surrogates', '{"id":1,"name":"Fern","x":"\\ud83c\\udf3f"}'],
      ['with a lone surrogate where it is ignored', '{"id":1,"name":"Fern","x":"\\ud83c"}'],
      ['with white space around it', ` \t\r\n${FERN}\n`],
      ['of exactly the limit', padded(BODY_LIMIT)],
    ] as const) {
      it(`accepts a body ${what}`, async () => {
        expect((await service.user().post(body)).text).to.equal('{"name":"Fern"}');
      });
    }

    it('answers 413/41300 to a body one byte over the limit', async () => {
      const { status, error } = await service.user().post(padded(BODY_LIMIT + 1));
      expect({ status, error }).to.deep.equal({ status: 413, error: 41300 });
    });

    it('answers 413/41300 to a body of 3 MB, with a length or in chunks, and serves further requests', async () => {
      const user = service.user();
      const large = padded(3_000_000);
      expect((await user.post(large)).error).to.equal(41300);
      const chunked = await user.send({
        method: 'POST',
        path: '/plants',
        headers: { 'Content-Type': 'application/json' },
        body: Array.from({ length: 30 }, (_, index) => large.slice(index * 100_000, (index + 1) * 100_000)),
      });
      expect(chunked.error).to.equal(41300);
      await user.plants([1, 'Fern']);
    });

    it('joins a body that arrives in chunks', async () => {
      const { text } = await service.user().send({
        method: 'POST',
        path: '/plants',
        headers: { 'Content-Type': 'application/json' },
        body: ['{"id":1,"na', bytes('me":"', [0xf0, 0x9f]), bytes([0x8c, 0xbf], '"}')],
      });
      expect(text).to.equal('{"name":"🌿"}');
    });

    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON;charset=UTF-8',
      'application/json; charset="utf-8"',
      'application/json; profile=x',
      'application/json;',
      'application/json ; ; charset=utf-8;',
    ]) {
      it(`accepts the type ${type}`, async () => {
        expect((await service.user().post(FERN, { 'Content-Type': type })).status).to.equal(200);
      });
    }

    for (const type of [
      undefined,
      '',
      'text/plain',
      'application/xml',
      'application/x-www-form-urlencoded',
      'application/json-patch+json',
      'application/vnd.api+json',
      'application/jsonx',
      'application/json;x',
      'application/json; charset=latin1',
      'application/json; charset=utf-16',
      'application/json; charset=utf-8; charset=latin1',
      'json',
    ]) {
      it(`answers 415/41500 to the type ${type ?? '(none)'}, with the accepted type in Accept`, async () => {
        const { status, error, headers } = await service
          .user()
          .post(FERN, type === undefined ? {} : { 'Content-Type': type });
        expect({ status, error }).to.deep.equal({ status: 415, error: 41500 });
        expect(headers.accept).to.equal('application/json');
      });
    }

    for (const [what, body, encoding] of [
      ['gzip', gzipSync(FERN), 'gzip'],
      ['corrupt gzip', FERN, 'gzip'],
      ['deflate', FERN, 'deflate'],
      ['br', FERN, 'br'],
      ['GZIP', gzipSync(FERN), 'GZIP'],
      ['rot13', FERN, 'rot13'],
      ['identity, gzip', gzipSync(FERN), 'identity, gzip'],
    ] as const) {
      it(`answers 415/41500 to the encoding ${what}`, async () => {
        const headers = { 'Content-Type': 'application/json', 'Content-Encoding': encoding };
        const { status, error } = await service.user().post(body, headers);
        expect({ status, error }).to.deep.equal({ status: 415, error: 41500 });
      });
    }

    for (const encoding of ['identity', 'IDENTITY', 'Identity', '']) {
      it(`accepts the encoding "${encoding}"`, async () => {
        const headers = { 'Content-Type': 'application/json', 'Content-Encoding': encoding };
        expect((await service.user().post(FERN, headers)).status).to.equal(200);
      });
    }
  });
}
