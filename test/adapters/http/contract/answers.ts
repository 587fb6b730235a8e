/** The response to each kind of request. The client checks each against the OpenAPI document. */
import { expect } from 'chai';
import { type HttpRequest, exchange } from '../../../support/client';
import type { TestedService } from './contract';

const FERN = '{"id":1,"name":"Fern"}';
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** By query of three plants: the names on the page, or the parameter that the message of a 400/40004 names. */
const QUERIES: Readonly<Record<string, readonly string[] | string>> = {
  'limit=0': [],
  'limit=1': ['Fern'],
  'limit=3': ['Fern', 'Moss', 'Palm'],
  'limit=4': ['Fern', 'Moss', 'Palm'],
  'limit=002': ['Fern', 'Moss'],
  'limit=%32': ['Fern', 'Moss'],
  [`limit=1${'0'.repeat(40)}`]: ['Fern', 'Moss', 'Palm'],
  'page=2&%zz=%zz': ['Fern', 'Moss', 'Palm'],
  'limit=': 'limit',
  'limit=%zz': 'limit',
  'limit=1&limit=1': 'limit',
  'limit[]=1': 'limit',
  'cursor=1': 'cursor',
  'cursor=djEuMQ&cursor=djEuMQ': 'cursor',
};

/** RFC 9110, 13: of a user with the plant 1. `TAG` is that of its list, and two others differ in length. */
const CONDITIONS: readonly (readonly [string, string, Readonly<Record<string, string>>, number])[] = [
  ['GET', '/plants', { 'If-Match': '*' }, 200],
  ['GET', '/plants', { 'If-Match': '"other", TAG' }, 200],
  ['GET', '/plants', { 'If-Match': 'W/TAG' }, 412],
  ['GET', '/plants', { 'If-Match': '"other"' }, 412],
  ['HEAD', '/plants', { 'If-Match': '"other"' }, 412],
  ['GET', '/plants', { 'If-None-Match': '*' }, 304],
  ['GET', '/plants', { 'If-None-Match': 'TAG' }, 304],
  ['HEAD', '/plants', { 'If-None-Match': 'TAG' }, 304],
  ['GET', '/plants', { 'If-None-Match': '"other", TAG' }, 304],
  ['GET', '/plants', { 'If-None-Match': 'W/TAG' }, 304],
  // As `fetch` sends it, which adds Cache-Control by itself.
  ['GET', '/plants', { 'If-None-Match': 'TAG', 'Cache-Control': 'no-cache' }, 304],
  ['GET', '/plants', { 'If-None-Match': '"other", "and another"' }, 200],
  ['GET', '/plants', { 'If-None-Match': 'LONGER' }, 200],
  ['GET', '/plants', { 'If-None-Match': 'SHORTER' }, 200],
  ['DELETE', '/plants/1', { 'If-Match': '*' }, 204],
  ['DELETE', '/plants/2', { 'If-Match': '*' }, 404],
  ['DELETE', '/plants/1', { 'If-Match': 'TAG' }, 412],
  ['DELETE', '/plants/1', { 'If-Match': 'nonsense' }, 412],
  ['DELETE', '/plants/1', { 'If-None-Match': '*' }, 412],
  ['DELETE', '/plants/1', { 'If-None-Match': '"other"' }, 412],
  ['POST', '/plants', { ...JSON_TYPE, 'If-None-Match': '*' }, 412],
  ['POST', '/plants', { ...JSON_TYPE, 'If-Match': 'TAG' }, 412],
  ['POST', '/plants', { ...JSON_TYPE, 'If-None-Match': '"other"' }, 412],
  ['POST', '/plants', { ...JSON_TYPE, 'If-Match': '*' }, 400],
  ['PUT', '/plants', { 'If-Match': '"other"' }, 405],
];

const CHALLENGE = 'Bearer realm="plants"';
const INVALID = `${CHALLENGE}, error="invalid_token"`;
/** By `Authorization`: the challenge, or `undefined` if it is accepted. `TOKEN` is a valid one. */
const CREDENTIALS: Readonly<Record<string, string | undefined>> = {
  '': CHALLENGE,
  'Basic dXNlcjpwYXNz': CHALLENGE,
  'BearerX TOKEN': CHALLENGE,
  Bearer: INVALID,
  'Bearer unknown': INVALID,
  'bearer unknown': INVALID,
  'Bearer TOKEN TOKEN': INVALID,
  'Bearer tok"en': INVALID,
  'Bearer ===': INVALID,
  'Bearer TOKEN-0': INVALID,
  'Bearer token-': INVALID,
  [`Bearer ${'x'.repeat(10_000)}`]: INVALID,
  'Bearer TOKEN': undefined,
  'bearer TOKEN': undefined,
  'BEARER  TOKEN': undefined,
};

/** Requests that are refused, each for its own reason, once their token is known. */
const FAULTY: readonly HttpRequest[] = [
  { path: '/plants?limit=x' },
  { path: '/plants/01', method: 'DELETE' },
  { path: '/plants/' },
  { path: '/plants/1/leaves' },
  { path: '/plants', method: 'PUT' },
  { path: '/plants', method: 'OPTIONS' },
  { path: '/plants', method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'x' },
  { path: '/plants', method: 'POST', headers: JSON_TYPE, body: '{' },
];

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'PURGE', 'LOCK'];
const ALLOWED = { '/plants': 'GET, HEAD, POST, OPTIONS', '/plants/1': 'DELETE, OPTIONS' };

const UNKNOWN_PATHS = [
  ...['/nothing', '/PLANTS', '/Plants', '//plants', '/plants%2F1', '/%70lants', '/plantsx', '/./plants'],
  ...['/x/../plants', '/favicon.ico', '/health', '/health/', '/health/live/', '/Health/live', '/docs/'],
  ...['/docs/index.html', '/docs/../package.json', '/docs/%73wagger-ui.css', '/openapi.json/'],
];

export function answers(service: TestedService): void {
  describe('DELETE /plants/{id}', () => {
    for (const id of [
      '01',
      '+1',
      '-0',
      '%31',
      '%zz',
      '%00',
      '1%2F..',
      '1;2',
      '1.0',
      '..',
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

  describe('GET /plants', () => {
    for (const [query, page] of Object.entries(QUERIES))
      it(`answers ?${query} with ${typeof page === 'string' ? '40004' : `${page.length} of 3 plants`}`, async () => {
        const user = service.user();
        await user.plants([1, 'Fern'], [2, 'Moss'], [3, 'Palm']);
        const { names, error, message } = await user.get(`/plants?${query}`);
        if (typeof page !== 'string') expect(names).to.deep.equal(page);
        else expect([error, message]).to.deep.equal([40004, message]);
        if (typeof page === 'string') expect(message).to.contain(page);
      });

    it('may be cached by its user only, who has to revalidate; HEAD answers alike, without the body', async () => {
      const user = service.user();
      const [get, head] = [await user.list(), await user.send({ method: 'HEAD', path: '/plants' })];
      expect(get.headers).to.include({ 'cache-control': 'private, no-cache', vary: 'Authorization' });
      expect(head).to.include({ status: 200, text: '' });
      for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'vary'])
        expect(head.headers[name], name).to.equal(get.headers[name]).and.not.equal(undefined);
    });
  });

  describe('The condition', () => {
    for (const [method, path, headers, status] of CONDITIONS)
      it(`${JSON.stringify(headers)} of ${method} ${path} is answered ${status}`, async () => {
        const user = service.user();
        await user.plants([1, 'Fern']);
        const tag = (await user.list()).headers.etag!;
        const fill = (value: string) =>
          value
            .replace('TAG', tag)
            .replace('LONGER', `"0${tag.slice(1)}`)
            .replace('SHORTER', `"${tag.slice(2)}`);
        const filled = Object.entries(headers).map(([name, value]) => [name, fill(value)]);
        const sent = Object.fromEntries(filled) as Record<string, string>;
        const answer = await user.send({
          method,
          path,
          headers: sent,
          ...(method === 'POST' && { body: FERN }),
        });
        expect(answer.status).to.equal(status);
        expect(await user.names()).to.deep.equal(status === 204 ? [] : ['Fern']);
      });

    it('If-None-Match: * lets a plant be created that does not exist', async () => {
      const user = service.user();
      const ifNone = { ...JSON_TYPE, 'If-None-Match': '*' };
      const found = [await user.post(FERN, ifNone), await user.post(FERN, ifNone)];
      expect(found.map(({ status, error }) => error ?? status)).to.deep.equal([200, 41200]);
    });
  });

  describe('Authentication', () => {
    for (const [authorization, challenge] of Object.entries(CREDENTIALS))
      it(`answers ${challenge ?? 200} to "${authorization.slice(0, 30)}"`, async () => {
        const headers = { Authorization: authorization.replaceAll(/TOKEN(?!-)/g, service.user().token) };
        const answer = await exchange(service.url, { path: '/plants', headers });
        expect(answer.headers['www-authenticate']).to.equal(challenge);
        expect(answer.error).to.equal(challenge && (challenge === CHALLENGE ? 40100 : 40101));
      });

    it('comes before any other check of a request', async () => {
      for (const sent of FAULTY)
        expect(await exchange(service.url, sent), JSON.stringify(sent)).to.include({
          status: 401,
          error: 40100,
        });
    });
  });

  for (const [path, allowed] of Object.entries(ALLOWED))
    describe(`The path ${path}`, () => {
      for (const method of METHODS.filter((each) => !allowed.split(', ').includes(each)))
        it(`answers 405 with Allow to ${method}, whatever field names another method`, async () => {
          const user = service.user();
          await user.plants([1, 'Fern']);
          const answer = await user.send({ method, path, headers: { 'X-HTTP-Method-Override': 'DELETE' } });
          expect(answer.status).to.equal(405);
          expect(answer.headers.allow).to.equal(allowed);
          expect(await user.names()).to.deep.equal(['Fern']);
        });

      it('answers 204 with Allow to OPTIONS', async () => {
        const answer = await service.user().send({ method: 'OPTIONS', path });
        expect(answer).to.include({ status: 204, text: '' });
        expect(answer.headers.allow).to.equal(allowed);
      });
    });

  describe('A path', () => {
    for (const path of UNKNOWN_PATHS)
      it(`${path} answers 40400, without a token and to any method`, async () => {
        for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS'])
          expect(await exchange(service.url, { method, path }), method).to.include({
            status: 404,
            error: 40400,
          });
      });

    for (const path of ['/plants/', '/plants/1/', '/plants/1/leaves', '/plants//1'])
      it(`${path} answers 40400`, async () => {
        expect(await service.user().get(path)).to.include({ status: 404, error: 40400 });
      });
  });

  describe('A response', () => {
    it('carries the request id of the request if it is well-formed; a failure without one gets a new one', async () => {
      const user = service.user();
      const idOf = async (id: string, path = '/plants') =>
        (await user.get(path, { 'X-Request-Id': id })).headers['x-request-id'] as string;
      for (const id of ['abc-123_x.y', 'x'.repeat(64)]) expect(await idOf(id)).to.equal(id);
      for (const id of ['x'.repeat(65), 'a b', 'a;b', '', 'ü']) {
        expect(await idOf(id)).to.equal(undefined);
        const two = [await idOf(id, '/nothing'), await idOf(id, '/nothing')];
        for (const made of two) expect(made).to.match(/^[0-9a-f-]{36}$/);
        expect(two[0]).not.to.equal(two[1]);
      }
    });
  });
}
