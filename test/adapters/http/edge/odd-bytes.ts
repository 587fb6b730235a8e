/** The input of the fuzzer: valid requests, damaged requests, and bytes that are not HTTP. */
import fc from 'fast-check';
import { QUERY_PARAMETERS } from '../../../../src/adapters/http/lists/list-query';
import { MEMBER_NAMES } from '../../../../src/domain';
import { allMembers, anyPlant } from '../../../domain/arbitraries';
import { AUTH, END, HOST, JSON_TYPE } from '../../../support/requests';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** Texts with a meaning for parsers, to be inserted in wrong places. */
const WORDS = [
  '\r\n', '\n', '\r', '\0', ' ', '\t', ':', ',', ';', '%', '%00', '%2F', '/', '//', '?', '#', '"', '\\', '{', '}', '[', ']',
  '\xff', '\xa0', '\xed\xa0\x80', '\ufeff', 'chunked', 'close', '0\r\n\r\n', 'ffffffff\r\n', '-1', '+5',
  '1e400', '9223372036854775808', '\\ud800', '__proto__', 'null', 'GET ', 'POST /plants HTTP/1.1\r\n', ' HTTP/1.0\r\n',
]; // prettier-ignore

/** Header lines that contradict the request. */
const FIELDS = [
  'Host: b', 'Host: a b', 'Content-Length: 5', 'Content-Length: 0', 'Content-Length: 99999', 'Content-Length: -1',
  'Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'Expect: 100-continue', 'Expect: 200-ok',
  'Connection: close', 'Connection: keep-alive', 'Connection: upgrade', 'Upgrade: h2c', 'Authorization: Bearer x',
  'Authorization: Basic eDp5', 'X-Request-Id: a', 'X-Request-Id: "', 'Content-Encoding: gzip', 'Content-Encoding: identity',
  'Content-Type: text/plain', 'Content-Type: application/json; charset=latin1', 'If-None-Match: *', 'If-None-Match: "",W/"',
  'X-HTTP-Method-Override: DELETE', 'Range: bytes=0-0', 'Origin: null', 'Cookie: a=b', `X: ${'x'.repeat(17_000)}`,
  'X: y\r\n'.repeat(101).trimEnd(), 'folded: a\r\n b', 'name : value', 'nothing', ': nothing',
]; // prettier-ignore

const id = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 30 }).map(String) },
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
  fc.double().map(String),
  fc.constantFrom('-0', '01', '1.0', '1e2', '%31', '', 'x'),
);

const anyJson = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.string({ unit: 'binary', maxLength: 60 }).map((text) => JSON.stringify(text)),
  fc.constantFrom('['.repeat(900), '{"a":'.repeat(300), `"${'x'.repeat(1990)}"`, `[${'1,'.repeat(500)}1]`),
);

const body = fc.oneof(
  fc.tuple(id, anyPlant).map(([i, plant]) => `{"id":${i},${JSON.stringify(plant).slice(1)}`),
  fc.tuple(id, fc.record(allMembers(() => anyJson))).map(([i, members]) => `{"id":${i},${MEMBER_NAMES.map((name) => `"${name}":${members[name]}`).join()}}`),
  anyJson,
  fc.string({ unit: 'binary-ascii', maxLength: 100 }),
); // prettier-ignore

const someBytes = fc.uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => Buffer.from(bytes));
const insertion = fc.oneof(fc.constantFrom(...WORDS).map(latin1), someBytes);

/** Replaces up to 20 bytes at any place. */
const wound = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  over: fc.nat(20),
  inserted: insertion,
});

const woundsOf = (minLength: number) => fc.array(wound, { minLength, maxLength: 4 });

function damaged(whole: Buffer, wounds: readonly { at: number; over: number; inserted: Buffer }[]): Buffer {
  return wounds.reduce((bytes, { at, over, inserted }) => {
    const start = Math.floor(at * bytes.length);
    return Buffer.concat([bytes.subarray(0, start), inserted, bytes.subarray(start + over)]);
  }, whole);
}

/** Half of them are damaged before they get their length, so that the request itself is valid. */
const bodyBytes = fc
  .tuple(body, fc.oneof(fc.constant([]), woundsOf(1)))
  .map(([text, wounds]) => damaged(Buffer.from(text), wounds).toString('latin1'));

function withBody(bytes: string, chunked: boolean): string {
  if (!chunked) return `${JSON_TYPE}Content-Length: ${bytes.length}\r\n${END}${bytes}`;
  const chunk = bytes === '' ? '' : `${bytes.length.toString(16)}\r\n${bytes}\r\n`;
  return `${JSON_TYPE}Transfer-Encoding: chunked\r\n${END}${chunk}0\r\n\r\n`;
}

/** Without HEAD: damaged bytes do not show which request is a HEAD, so its response could not be parsed. */
const validRequest = fc.oneof(
  fc.tuple(bodyBytes, fc.boolean()).map(([bytes, chunked]) => `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${withBody(bytes, chunked)}`),
  id.map((i) => `DELETE /plants/${i} HTTP/1.1\r\n${HOST}${AUTH}${END}`),
  fc.tuple(fc.constantFrom(...QUERY_PARAMETERS.map(({ name }) => name), 'x'), id).map(([name, value]) => `GET /plants?${name}=${value} HTTP/1.1\r\n${HOST}${AUTH}${END}`),
  fc.webPath().map((path) => `GET ${path || '/'} HTTP/1.1\r\n${HOST}${AUTH}${END}`),
  fc.constantFrom('OPTIONS', 'PUT', 'CONNECT', 'PROPFIND', 'FLOURISH').map((method) => `${method} /plants HTTP/1.1\r\n${HOST}${AUTH}${END}`),
  fc.constant(`GET /health/ready HTTP/1.1\r\n${HOST}${END}`),
).map(latin1); // prettier-ignore

const oddField = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...FIELDS) },
  { weight: 1, arbitrary: fc.tuple(fc.string({ maxLength: 10 }), fc.string({ unit: 'binary-ascii', maxLength: 20 })).map(([name, value]) => `${name}: ${value}`) },
); // prettier-ignore

/** Instead of a field, or in addition to the others. */
const oddlyFieldedRequest = fc
  .tuple(validRequest, fc.constantFrom(HOST, AUTH, JSON_TYPE, ''), fc.array(oddField, { maxLength: 3 }))
  .map(([bytes, replaced, fields]) => {
    const text = bytes.toString('latin1').replace(replaced, '');
    const behindRequestLine = text.indexOf('\r\n') + 2;
    const lines = fields.map((field) => `${field}\r\n`).join('');
    return latin1(text.slice(0, behindRequestLine) + lines + text.slice(behindRequestLine));
  });

const woundedRequest = fc
  .tuple(validRequest, woundsOf(1))
  .map(([request, wounds]) => damaged(request, wounds));

const neverARequest = fc
  .array(insertion, { minLength: 1, maxLength: 12 })
  .map((pieces) => Buffer.concat(pieces));

/** The writes to one connection, in order. */
export const oddBytes: fc.Arbitrary<Buffer[]> = fc
  .tuple(
    fc.array(
      fc.oneof(
        { weight: 5, arbitrary: validRequest },
        { weight: 5, arbitrary: oddlyFieldedRequest },
        { weight: 5, arbitrary: woundedRequest },
        { weight: 1, arbitrary: neverARequest },
      ),
      { minLength: 1, maxLength: 3 },
    ),
    fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 2 }),
  )
  .map(([requests, cuts]) => {
    const bytes = Buffer.concat(requests);
    const ends = [...cuts.map((cut) => Math.floor(cut * bytes.length)), bytes.length].sort((a, b) => a - b);
    return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
  });
