import { expect } from 'chai';
import { METHODS } from '../../src/adapters/http';
import { type WireRequest, type WireResponse, expectDocumented } from './documented';

const POST: WireRequest = { method: 'POST', target: '/plants' };
const LIST: WireRequest = { method: 'GET', target: '/plants?limit=1' };
const DELETE: WireRequest = { method: 'DELETE', target: '/plants/7' };

const EVERY = { 'x-request-id': '7', 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
const JSON_FIELDS = { ...EVERY, 'content-type': 'application/json', 'content-length': '1', date: 'today' };
const FERN = told(200, JSON_FIELDS, '{"name":"Fern","tag":"indoor"}');
const PAGE = told(
  200,
  { ...JSON_FIELDS, 'cache-control': 'private, no-cache', etag: '"1-a"', vary: 'Authorization' },
  '[{"name":"Fern"}]',
);
const GONE = told(204, EVERY, '');

function told(status: number, fields: Readonly<Record<string, string>>, body: string): WireResponse {
  return { status, fields: new Map(Object.entries(fields)), body };
}

function failure(status: number, error: number, more: Readonly<Record<string, string>> = {}): WireResponse {
  return told(status, { ...JSON_FIELDS, ...more }, JSON.stringify({ error, message: 'why' }));
}

/** The same response with other fields; a field that is `undefined` is omitted. */
function but(answer: WireResponse, change: Readonly<Record<string, string | undefined>>): WireResponse {
  const fields = Object.entries({ ...Object.fromEntries(answer.fields), ...change });
  return {
    ...answer,
    fields: new Map(fields.filter((field): field is [string, string] => field[1] !== undefined)),
  };
}

describe('the check against the OpenAPI document', () => {
  const good: Readonly<Record<string, [WireRequest | undefined, WireResponse]>> = {
    'a Plant': [POST, FERN],
    'a page of a list': [LIST, but(PAGE, { link: '</plants?limit=1&cursor=djEuMQ>; rel="next"' })],
    'an unchanged list': [LIST, { ...but(PAGE, { 'content-type': undefined }), status: 304, body: '' }],
    'HEAD, without the body': [
      { ...LIST, method: 'HEAD' },
      { ...PAGE, body: '' },
    ],
    'a deletion': [DELETE, GONE],
    'OPTIONS, with the methods of the path': [
      { method: 'OPTIONS', target: '/plants/7' },
      but(GONE, { allow: 'DELETE, OPTIONS' }),
    ],
    'a failure of the operation': [POST, failure(400, 40003)],
    'another path': [{ method: 'GET', target: '/plants/' }, failure(404, 40400)],
    'another method': [
      { method: 'PUT', target: '/plants' },
      failure(405, 40500, { allow: 'GET, HEAD, POST, OPTIONS' }),
    ],
    'an unknown method': [
      { method: 'FLOURISH', target: '/plants' },
      failure(405, 40500, { allow: METHODS.join(', ') }),
    ],
    'a malformed target': [{ method: 'GET', target: 'plants' }, failure(400, 40000)],
    'the response to an unknown request': [undefined, failure(400, 40000)],
    'a documented response to an unknown request': [undefined, GONE],
  };
  for (const [what, [asked, answer]] of Object.entries(good)) {
    it(`accepts ${what}`, () => expectDocumented(asked, answer));
  }

  const bad: Readonly<Record<string, [WireRequest | undefined, WireResponse, RegExp]>> = {
    'an undocumented status': [POST, { ...FERN, status: 201 }, /201 is not documented/],
    'a status of another operation': [POST, GONE, /204 is not documented/],
    'a number of another operation': [POST, failure(400, 40005), /equal to one of the allowed values/],
    'a number of another status': [POST, failure(500, 40000), /equal to one of the allowed values/],
    'a number that is not an int32': [undefined, failure(400, 2 ** 40), /int32/],
    'a missing field': [POST, but(FERN, { 'x-request-id': undefined }), /x-request-id is missing/],
    'a missing field of this status': [LIST, failure(503, 50300), /retry-after is missing/],
    'an undocumented field': [POST, but(FERN, { server: 'x' }), /server is not documented/],
    'another value of a field': [LIST, but(PAGE, { 'cache-control': 'public' }), /must be equal to constant/],
    'a weak ETag': [LIST, but(PAGE, { etag: 'W/"1"' }), /must match pattern/],
    'another type': [
      POST,
      but(FERN, { 'content-type': 'application/json; charset=utf-8' }),
      /is not documented/,
    ],
    'an id in a Plant': [POST, { ...FERN, body: '{"name":"Fern","id":1}' }, /must NOT have additional/],
    'a Plant in a list without a name': [LIST, { ...PAGE, body: '[{}]' }, /required property 'name'/],
    'a body after 204': [
      DELETE,
      but({ ...GONE, body: 'x' }, { 'content-type': 'text/plain' }),
      /none is documented/,
    ],
    'a body after HEAD': [{ ...LIST, method: 'HEAD' }, PAGE, /a body after HEAD/],
    'methods that do not exist': [
      { method: 'PUT', target: '/plants' },
      failure(405, 40500, { allow: 'GET, PUT' }),
      /GET, HEAD, POST, OPTIONS are documented/,
    ],
    'OPTIONS without the methods': [{ method: 'OPTIONS', target: '/plants' }, GONE, /allow is missing/],
    'the methods of another path': [
      { method: 'OPTIONS', target: '/plants' },
      but(GONE, { allow: 'DELETE, OPTIONS' }),
      /GET, HEAD, POST, OPTIONS are documented/,
    ],
    'HEAD where there is no GET': [{ method: 'HEAD', target: '/plants/7' }, GONE, /204 is not documented/],
    'a method in lower case': [{ ...POST, method: 'post' }, FERN, /200 is not documented/],
    'OPTIONS at an unknown path': [
      { method: 'OPTIONS', target: '/plants/' },
      but(GONE, { allow: 'OPTIONS' }),
      /204 is not documented/,
    ],
    'success at an unknown path': [{ method: 'GET', target: '/plants/' }, FERN, /200 is not documented/],
    'an undocumented response to an unknown request': [
      undefined,
      failure(402, 40200),
      /402 is not documented/,
    ],
  };
  for (const [what, [asked, answer, why]] of Object.entries(bad)) {
    it(`refuses ${what}`, () => expect(() => expectDocumented(asked, answer)).to.throw(why));
  }
});
