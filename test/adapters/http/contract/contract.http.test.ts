/**
 * The response to each kind of request. The client checks each of them against the OpenAPI
 * document.
 */
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { openApi } from '../../../support/open-api';
import { type HttpRequest, exchange } from '../../../support/client';
import { startWatched } from '../../../support/watched-service';
import { behaviour, tested } from './behaviour';

const FERN = '{"id":1,"name":"Fern"}';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const BODY_LIMIT = 65_536;
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));
const nested = (depth: number) =>
  `{"id":1,"name":"Fern","x":${'['.repeat(depth)}${']'.repeat(depth)}}`;
const padded = (length: number) => FERN.padEnd(length, ' ');

type Body = NonNullable<HttpRequest['body']>;
/** The error, and what its message contains; without it, the body is accepted. */
const BODIES: readonly (readonly [what: string, Body, error?: number, told?: string])[] = [
  ['arrays nested 999 deep in its object', nested(999)],
  ['exactly the maximum size', padded(BODY_LIMIT)],
  [
    'chunks that split a character',
    [bytes('{"id":1,"name":"Fern","x":"', [0xf0, 0x9f]), bytes([0x8c, 0xbf], '"}')],
  ],
  ['no content', '', 40001, 'JSON'],
  ['two byte order marks', `\ufeff\ufeff${FERN}`, 40001, 'JSON'],
  ['invalid UTF-8', bytes('{"id":1,"name":"', [0xff], '"}'), 40001, 'UTF-8'],
  ['arrays nested 1,000 deep in its object', nested(1000), 40001, 'deep'],
  ['two ids', '{"id":9007199254740993,"id":9007199254740992,"name":"Fern"}', 40001, 'twice'],
  ['no id', '{"name":"Fern"}', 40002, 'id is required'],
  ['an id that is a fraction', '{"id":7.5,"name":"Fern"}', 40002, 'id must be'],
  ['an id that is too large', '{"id":9223372036854775808,"name":"Fern"}', 40002, 'id must be'],
  ['no name', '{"id":1}', 40002, 'name is required'],
  ['an empty name', '{"id":1,"name":""}', 40002, 'name must be'],
  ['a name only in __proto__', '{"id":1,"__proto__":{"name":"Fern"}}', 40002, 'name is required'],
  ['a lone surrogate in the name', '{"id":1,"name":"a\\ud800"}', 40002, 'name must be'],
  ['a tag that is null', '{"id":1,"name":"Fern","tag":null}', 40002, 'tag, where given, must be'],
  ['a number instead of an object', '7', 40002, 'object'],
  ['one byte more than the maximum size', padded(BODY_LIMIT + 1), 41300, String(BODY_LIMIT)],
];

const application = (...subtypes: string[]) => subtypes.map((subtype) => `application/${subtype}`);
/** The status by values of a field. */
const FIELDS: readonly (readonly [field: string, status: number, ...values: string[]])[] = [
  ['Content-Type', 200, ...application('json', 'json;', 'json; profile=x', 'json; charset=utf-8')],
  ['Content-Type', 200, 'Application/JSON;charset=UTF-8', 'application/json; charset="utf-8"'],
  [
    'Content-Type',
    415,
    ...application('json-patch+json', 'vnd.api+json', 'jsonx', 'json; charset=latin1'),
  ],
  ['Content-Type', 200, `application/json; x="${'y'.repeat(1000)}"`],
  ['Content-Type', 415, `application/json; x="${'y'.repeat(1024)}"`],
  ['Content-Type', 415, '', 'text/plain', 'application/json; charset=utf-8; charset=latin1'],
  ['Content-Encoding', 200, 'identity', 'IDENTITY', ''],
  ['Content-Encoding', 415, 'gzip', 'GZIP', 'deflate', 'br', 'rot13', 'identity, gzip'],
];

/**
 * RFC 9110, 13: the status by value, of a user with the plant 1. `TAG` is that of its list, `GZIPTAG`
 * the same after a coding; two others differ in length.
 */
const CONDITIONS: readonly (readonly [
  string,
  string,
  ...(readonly [value: string, status: number])[],
])[] = [
  ['GET /plants', 'If-Match', ['*', 200], ['"other", TAG', 200], ['W/TAG', 412]],
  ['HEAD /plants', 'If-Match', ['"other"', 412]],
  ['GET /plants', 'If-None-Match', ['*', 304], ['TAG', 304], ['"other", W/TAG', 304]],
  [
    'GET /plants',
    'If-None-Match',
    ['"other", "and another"', 200],
    ['LONGERTAG', 200],
    ['SHORTERTAG', 200],
  ],
  ['HEAD /plants', 'If-None-Match', ['TAG', 304]],
  // As Apache's mod_deflate changes a tag.
  ['GET /plants', 'If-None-Match', ['GZIPTAG', 304], ['W/GZIPTAG', 304]],
  ['GET /plants', 'If-Match', ['GZIPTAG', 412]],
  ['DELETE /plants/1', 'If-Match', ['*', 204], ['TAG', 412], ['nonsense', 412]],
  ['DELETE /plants/2', 'If-Match', ['*', 404]],
  ['DELETE /plants/1', 'If-None-Match', ['*', 412], ['"other"', 412]],
  ['POST /plants', 'If-Match', ['*', 400], ['TAG', 412]],
  ['POST /plants', 'If-None-Match', ['*', 412], ['"other"', 412]],
  ['PUT /plants', 'If-Match', ['"other"', 405]],
];

const CHALLENGE = 'Bearer realm="plants"';
const INVALID = `${CHALLENGE}, error="invalid_token"`;
/** By `Authorization`: the challenge, or `undefined` if it is accepted. `TOKEN` is a valid one. */
const CREDENTIALS: Readonly<Record<string, string | undefined>> = {
  '': CHALLENGE,
  'Basic dXNlcjpwYXNz': CHALLENGE,
  'BearerX TOKEN': CHALLENGE,
  Bearer: INVALID,
  'bearer unknown': INVALID,
  'Bearer TOKEN TOKEN': INVALID,
  'Bearer tok"en': INVALID,
  'Bearer ===': INVALID,
  'Bearer TOKEN-0': INVALID,
  [`Bearer ${'x'.repeat(10_000)}`]: INVALID,
  'Bearer TOKEN': undefined,
  'bearer TOKEN': undefined,
  'BEARER  TOKEN': undefined,
};

/** Requests that are refused, each for its own reason, once their token is known. */
const FAULTY: readonly HttpRequest[] = [
  ...['/plants?limit=x', '/plants/', '/plants/1/leaves'].map((path) => ({ path })),
  ...['PUT', 'OPTIONS'].map((method) => ({ method, path: '/plants' })),
  { method: 'DELETE', path: '/plants/01' },
  { method: 'POST', path: '/plants', headers: { 'Content-Type': 'text/plain' }, body: 'x' },
  { method: 'POST', path: '/plants', headers: JSON_TYPE, body: '{' },
];

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'OPTIONS'];
const READ = ['GET', 'HEAD'];
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  '/plants': [...READ, 'POST'],
  '/plants/1': ['DELETE'],
  '/': READ,
  '/docs': READ,
  '/openapi.json': READ,
  '/health/live': READ,
  '/health/ready': READ,
  '/metrics': READ,
};
const UNKNOWN_PATHS = [
  '/nothing',
  '/PLANTS',
  '//plants',
  '/plants%2F1',
  '/%70lants',
  '/plantsx',
  '/./plants',
  '/x/../plants',
  '/health',
  '/health/live/',
  '/Health/live',
  '/docs/',
  '/docs/index.html',
  '/docs/../package.json',
];

describe('The service in memory', () => {
  const service = tested(async (environment) => [await startWatched(environment)]);
  behaviour(service);
  const anyone = (sent: HttpRequest) => exchange(service.urls()[0]!, sent);

  describe('POST /plants', () => {
    for (const [what, body, error, told = ''] of BODIES)
      it(`${error ? `answers ${error} to` : 'accepts'} a body with ${what}`, async () => {
        const user = service.user();
        const answer = await user.post(body);
        expect(answer).to.include(
          error ? { status: Math.floor(error / 100), error } : { status: 200 },
        );
        expect(answer.message ?? '').to.contain(told);
        expect(await user.names()).to.deep.equal(error ? [] : ['Fern']);
      });

    it('accepts only JSON in UTF-8, without a content encoding', async () => {
      expect((await service.user().post(FERN, {})).error).to.equal(41500);
      for (const [field, status, ...values] of FIELDS)
        for (const value of values) {
          const body = /gzip/i.test(value) ? gzipSync(FERN) : FERN;
          const answer = await service.user().post(body, { ...JSON_TYPE, [field]: value });
          expect(answer.status, `${field}: ${value}`).to.equal(status);
        }
    });
  });

  describe('DELETE /plants/{id}', () => {
    for (const id of [
      '01',
      '-0',
      '%31',
      '%zz',
      '1%2F..',
      '1;2',
      '__proto__',
      '9223372036854775808',
    ])
      it(`answers 40005 to the id ${id}, and deletes nothing`, async () => {
        const user = service.user();
        await user.plants([1, 'Fern'], [0, 'Moss']);
        expect(await user.delete(id)).to.include({ status: 400, error: 40005 });
        expect(await user.names()).to.have.length(2);
      });
  });

  it('answers HEAD like GET, but without the body', async () => {
    const user = service.user();
    const [get, head] = [await user.list(), await user.send({ method: 'HEAD', path: '/plants' })];
    expect(head).to.include({ status: 200, text: '' });
    for (const name of ['content-length', 'etag'])
      expect(head.headers[name], name).to.equal(get.headers[name]).and.not.equal(undefined);
  });

  describe('The condition', () => {
    for (const [target, field, ...rows] of CONDITIONS)
      for (const [value, status] of rows)
        it(`${field}: ${value} leads to status ${status} for ${target}`, async () => {
          const user = service.user();
          await user.plants([1, 'Fern']);
          const tag = (await user.list()).headers.etag!;
          const [longer, coded] = [`"0${tag.slice(1)}`, tag.replace(/"$/, '-gzip"')];
          const others = {
            TAG: tag,
            LONGERTAG: longer,
            SHORTERTAG: `"${tag.slice(2)}`,
            GZIPTAG: coded,
          };
          const sent = value.replace(/[A-Z]{2,}/, (name) => others[name as keyof typeof others]);
          const [method = '', path = ''] = target.split(' ');
          // `fetch` adds Cache-Control to such a request by itself.
          const headers = { ...JSON_TYPE, [field]: sent, 'Cache-Control': 'no-cache' };
          const answer = await user.send({
            method,
            path,
            headers,
            ...(method === 'POST' && { body: FERN }),
          });
          expect(answer.status).to.equal(status);
          expect(await user.names()).to.deep.equal(status === 204 ? [] : ['Fern']);
        });

    it('If-None-Match: * allows the creation of a plant that does not exist', async () => {
      const answer = await service.user().post(FERN, { ...JSON_TYPE, 'If-None-Match': '*' });
      expect(answer.status).to.equal(200);
    });
  });

  describe('Authentication', () => {
    for (const [authorization, challenge] of Object.entries(CREDENTIALS))
      it(`${challenge ? `sends ${challenge} for` : 'accepts'} "${authorization.slice(0, 30)}"`, async () => {
        const headers = {
          Authorization: authorization.replaceAll(/TOKEN(?!-)/g, service.user().token),
        };
        const answer = await anyone({ path: '/plants', headers });
        expect(answer.headers['www-authenticate']).to.equal(challenge);
        expect(answer.error).to.equal(challenge && (challenge === CHALLENGE ? 40100 : 40101));
      });

    it('comes before any other check of a request', async () => {
      for (const sent of FAULTY)
        expect((await anyone(sent)).error, JSON.stringify(sent)).to.equal(40100);
    });
  });

  it('is tested at every path of the OpenAPI document', () => {
    const asked = Object.keys(ALLOWED).map((path) => path.replace(/\/1$/, '/{id}'));
    expect(asked).to.have.members(Object.keys(openApi.paths));
  });

  for (const [path, allowed] of Object.entries(ALLOWED))
    it(`answers 405 to methods that ${path} does not allow, even overridden, and 204 to OPTIONS`, async () => {
      const user = service.user();
      await user.plants([1, 'Fern']);
      const headers = { 'X-HTTP-Method-Override': 'DELETE' };
      for (const method of METHODS.filter((each) => !allowed.includes(each))) {
        const { status } = await user.send({ method, path, headers });
        expect(status, method).to.equal(method === 'OPTIONS' ? 204 : 405);
      }
      expect(await user.names()).to.deep.equal(['Fern']);
    });

  it('answers 40400 to any method at an unknown path, and requires a token only below /plants', async () => {
    for (const path of UNKNOWN_PATHS)
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS'])
        expect((await anyone({ method, path })).error, `${method} ${path}`).to.equal(40400);
    for (const path of ['/plants/', '/plants/1/', '/plants/1/leaves', '/plants//1'])
      expect((await service.user().get(path)).error, path).to.equal(40400);
  });

  it('returns a well-formed request ID, and a new one with the failure of a request without one', async () => {
    const idOf = async (path: string, id: string) =>
      (await anyone({ path, headers: { 'X-Request-Id': id } })).headers['x-request-id'];
    for (const id of ['abc-123_x.y', 'x'.repeat(64)]) expect(await idOf('/', id)).to.equal(id);
    for (const id of ['x'.repeat(65), 'a b', 'a;b', '', 'ü'])
      expect(await idOf('/', id)).to.equal(undefined);
    const user = service.user();
    const { etag = '' } = (await user.list()).headers;
    // A browser replaces the fields of the list that it stored by these.
    const unchanged = await user.get('/plants', {
      'If-None-Match': etag,
      'X-Request-Id': 'second',
    });
    expect([unchanged.status, unchanged.headers['x-request-id']]).to.deep.equal([304, 'second']);
    expect(await idOf('/nothing', ''))
      .to.match(/^[0-9a-f-]{36}$/)
      .and.not.to.equal(await idOf('/nothing', ''));
  });
});
