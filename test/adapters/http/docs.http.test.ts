import { readFileSync } from 'node:fs';
import { type IncomingHttpHeaders, get } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import Koa from 'koa';
import request from 'supertest';
import { routerOf } from '../../../src/adapters/http/app/koa';
import { serviceHandlers } from '../../../src/adapters/http/app/service';
import { openApiDocument } from '../../../src/adapters/http/openapi/document';
import { OPERATIONS } from '../../../src/adapters/http/openapi/operations';
import { HttpProblem, Overloaded, PROBLEMS, problemOf } from '../../../src/adapters/http/app/problems';
import { Allowance, constant } from '../../../src/adapters/http/app/response';
import { type HttpRequest, exchange } from '../../support/client';
import { type WatchedService, startWatched } from '../../support/watched-service';
import { exampleOf } from './contract/operations';

const KEPT: Readonly<Record<string, string>> = {
  '/openapi.json': 'application/json',
  '/docs/initializer.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui.css': 'text/css; charset=utf-8',
};

const never = () => Promise.reject(new Error('not called'));

interface EncodedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

describe('The description of the interface', () => {
  let service: WatchedService;

  before(async () => {
    service = await startWatched({ AUTH_TOKENS: '' });
  });
  after(() => service.stop());

  const ask = (path: string, message: Omit<HttpRequest, 'path'> = {}) =>
    exchange(service.url, { path, ...message });

  /** The response as it was sent, not decoded. */
  function bytesOf(path: string, headers: Readonly<Record<string, string>>): Promise<EncodedResponse> {
    return new Promise((resolve, reject) => {
      const sent = get(service.url + path, { headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            bytes: Buffer.concat(chunks),
          }),
        );
      });
      sent.on('error', reject);
    });
  }

  it('is the OpenAPI document, at /openapi.json', async () => {
    expect(JSON.parse((await ask('/openapi.json')).text)).to.deep.equal(openApiDocument());
  });

  for (const [id, operation] of Object.entries(OPERATIONS))
    it(`has an example of ${id} that succeeds`, async () => {
      const { method, headers, ...rest } = exampleOf(operation);
      const authorization = `Bearer ${service.developmentToken!}`;
      const { status } = await ask(rest.path, { method, ...rest, headers: { ...headers, authorization } });
      expect(String(status)).to.equal(Object.keys(operation.responses)[0]);
    });

  for (const [path, type] of Object.entries(KEPT)) {
    it(`may be cached and revalidated: ${path}`, async () => {
      const first = await ask(path);
      expect(first).to.include({ status: 200 });
      expect(first.headers['content-type']).to.equal(type);
      const again = await ask(path, { headers: { 'If-None-Match': first.headers.etag! } });
      expect(again).to.include({ status: 304, text: '' });
      expect((await ask(path, { headers: { 'If-None-Match': '"other"' } })).text).to.equal(first.text);
    });
  }

  it('shows Swagger UI as it was published', async () => {
    const published = readFileSync(require.resolve('swagger-ui-dist/swagger-ui-bundle.js'), 'utf8');
    expect((await ask('/docs/swagger-ui-bundle.js')).text).to.equal(published);
  });

  it('is a page that may not load from other origins nor run inline scripts', async () => {
    const { headers, text } = await ask('/docs');
    expect(headers['content-security-policy']).to.equal(
      "default-src 'none'; img-src 'self' data:; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(text).not.to.match(/https?:\/\/(?!www\.w3\.org\/2000\/svg)|<script(?![^>]* src=)| on\w+=| style=/);
  });

  for (const path of ['/', '/docs', ...Object.keys(KEPT)]) {
    it(`allows GET, HEAD and OPTIONS at ${path}, and no other method`, async () => {
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const { status, headers } = await ask(path, { method });
        expect({ status, allow: headers.allow }).to.deep.equal({ status: 405, allow: 'GET, HEAD, OPTIONS' });
      }
      const [get, head] = [await ask(path), await ask(path, { method: 'HEAD' })];
      expect(head.headers['content-length']).to.equal(get.headers['content-length']);
    });
  }

  for (const path of [
    '/docs/',
    '/Docs',
    '/docs/index.html',
    '/docs/../package.json',
    '/docs/%73wagger-ui.css',
    '/openapi.json/',
  ]) {
    it(`answers 404 at ${path}`, async () => {
      expect(await ask(path)).to.include({ status: 404, error: 40400 });
    });
  }

  it('refers to /openapi.json if the app has no Swagger UI', async () => {
    let failed: unknown;
    const app = new Koa().use((_, next) => next().catch((error: unknown) => void (failed = error)));
    const { docs } = serviceHandlers({
      swaggerUi: undefined,
      metrics: undefined,
      isServed: () => true,
      ready: never,
    });
    app.use(routerOf({ docs }).routes());
    await request(app.callback()).get('/docs');
    expect(failed).to.be.instanceOf(HttpProblem).and.to.have.property('problem', PROBLEMS.noSuchPath);
    expect((failed as HttpProblem).message).to.contain('/openapi.json');
  });

  const BODY = 'a document '.repeat(1000);
  const documentApp = (allowance: Allowance, body = BODY) =>
    Object.assign(new Koa(), { silent: true })
      .use((ctx, next) => next().catch((error: unknown) => (ctx.status = problemOf(error).status)))
      .use(constant('text/plain', async () => Buffer.from(body), allowance))
      .callback();

  for (const accepted of ['gzip', 'GZIP', '*', 'br, gzip;q=0.1', 'identity;q=0.5, gzip', 'identity;q=0, *']) {
    it(`is compressed for Accept-Encoding: ${accepted}`, async () => {
      const path = '/docs/swagger-ui.css';
      const encoded = { 'accept-encoding': accepted };
      const [plain, zipped] = [await bytesOf(path, {}), await bytesOf(path, encoded)];
      expect(zipped.headers['content-encoding']).to.equal('gzip');
      expect(zipped.headers.vary).to.equal('Accept-Encoding');
      expect(Number(zipped.headers['content-length'])).to.equal(zipped.bytes.length);
      expect(gunzipSync(zipped.bytes).equals(plain.bytes)).to.equal(true);
      // The two are different representations.
      expect(zipped.headers.etag).not.to.equal(plain.headers.etag);
      const known = { ...encoded, 'if-none-match': zipped.headers.etag! };
      expect((await bytesOf(path, known)).status).to.equal(304);
    });
  }

  for (const accepted of [
    undefined,
    '',
    'br',
    'identity',
    'gzip;q=0',
    'gzip;q=0.5, identity',
    // RFC 9110, 12.5.3: if no encoding is acceptable, the response has none.
    'identity;q=0',
    '*;q=0',
  ]) {
    it(`is not compressed for Accept-Encoding: ${accepted ?? '(none)'}`, async () => {
      const headers = accepted === undefined ? {} : { 'accept-encoding': accepted };
      const { status, headers: fields, bytes } = await bytesOf('/docs/swagger-ui.css', headers);
      expect([status, fields['content-encoding']]).to.deep.equal([200, undefined]);
      expect(fields.vary).to.equal('Accept-Encoding');
      expect(bytes.equals(readFileSync(require.resolve('swagger-ui-dist/swagger-ui.css')))).to.equal(true);
    });
  }

  it('answers 503 beyond 48 MiB a minute, and only to clients that would get the bytes', async () => {
    let now = 0;
    const allowance = new Allowance(() => now);
    const [app, mebibyte] = [documentApp(allowance), documentApp(allowance, 'x'.repeat(2 ** 20))];
    const { etag } = (await request(app).get('/').set('Accept-Encoding', 'identity')).headers;
    const statuses: number[] = [];
    for (let i = 0; i < 48; i++)
      statuses.push((await request(mebibyte).get('/').set('Accept-Encoding', 'identity')).status);
    expect(statuses).to.deep.equal([...Array<number>(47).fill(200), 503]);

    expect((await request(mebibyte).head('/').set('Accept-Encoding', 'identity')).status).to.equal(200);
    const known = request(app).get('/').set('Accept-Encoding', 'identity').set('If-None-Match', etag!);
    expect((await known).status).to.equal(304);
    // Compressed, it still fits.
    expect((await request(mebibyte).get('/').set('Accept-Encoding', 'gzip')).status).to.equal(200);

    now = 59_999;
    expect((await request(mebibyte).get('/').set('Accept-Encoding', 'identity')).status).to.equal(503);
    now = 60_000;
    expect((await request(mebibyte).get('/').set('Accept-Encoding', 'identity')).status).to.equal(200);
    expect(() => allowance.take(48 * 2 ** 20)).to.throw(Overloaded);
  });

  it('is loaded again by the next request if it could not be loaded', async () => {
    let loads = 0;
    const load = async () => {
      if (++loads === 1) throw new Error('EMFILE');
      return Buffer.from('a document');
    };
    const app = Object.assign(new Koa(), { silent: true }).use(constant('text/plain', load, new Allowance()));
    const answers = [];
    for (let time = 0; time < 3; time++) answers.push((await request(app.callback()).get('/')).status);
    expect({ answers, loads }).to.deep.equal({ answers: [500, 200, 200], loads: 2 });
  });

  describe('begins at /', () => {
    for (const accept of [undefined, '*/*', 'application/json', 'application/json, text/html']) {
      it(`with JSON for Accept: ${accept ?? '(none)'}`, async () => {
        const { text } = await ask('/', { headers: accept === undefined ? {} : { accept } });
        expect(JSON.parse(text)).to.deep.equal({
          name: 'plant-store',
          version: '1.0.0',
          docs: '/docs',
          openapi: '/openapi.json',
        });
      });
    }

    it('with a page for a browser, with links', async () => {
      const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
      const { headers, text } = await ask('/', { headers: { accept } });
      expect(headers['content-type']).to.equal('text/html; charset=utf-8');
      expect(headers.vary).to.equal('Accept');
      expect(text).to.contain('<html lang="en">').and.to.contain('<a href="/docs">').and.to.contain('<h1>');
      for (const [, path] of text.matchAll(/<a href="([^"]+)"/g))
        expect((await ask(path!)).status).to.equal(200);
    });
  });
});
