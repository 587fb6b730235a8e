import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import Koa from 'koa';
import request from 'supertest';
import { docsRouter } from '../../../src/adapters/http/service';
import { openApiDocument } from '../../../src/adapters/http/openapi/document';
import type { Operation } from '../../../src/adapters/http/openapi/parts';
import { HttpProblem, PROBLEMS } from '../../../src/adapters/http/problems';
import { constant } from '../../../src/adapters/http/response';
import { type Service, bootstrap } from '../../../src/service/bootstrap';
import { readConfig } from '../../../src/service/config';
import { type HttpRequest, exchange } from '../../support/client';
import { servedMethodsOf } from '../../support/documented';

const KEPT: Readonly<Record<string, string>> = {
  '/openapi.json': 'application/json',
  '/docs/initializer.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui.css': 'text/css; charset=utf-8',
};

describe('The description of the interface', () => {
  let service: Service;

  before(async () => {
    service = await bootstrap(readConfig({ PORT: '0', LOG_LEVEL: 'silent' }).config!);
  });
  after(() => service.stop());

  const ask = (path: string, message: Omit<HttpRequest, 'path'> = {}) =>
    exchange(service.url, { path, ...message });

  it('is the OpenAPI document, at /openapi.json', async () => {
    expect(JSON.parse((await ask('/openapi.json')).text)).to.deep.equal(openApiDocument());
  });

  it('lists only operations that exist', async () => {
    const authorization = `Bearer ${service.developmentToken!}`;
    for (const [path, item] of Object.entries(openApiDocument().paths)) {
      for (const method of servedMethodsOf(item)) {
        const target = path.replace('{id}', '1').replace('{file}', 'swagger-ui.css');
        const { status, error } = await ask(target, {
          method,
          headers: { authorization, 'content-type': 'application/json' },
          ...(method === 'POST' ? bodyOf(item.post!) : {}),
        });
        expect({ status, error }, `${method} ${path}`).to.satisfy(() => status < 300);
      }
    }
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
    app.use(docsRouter(undefined, true).routes());
    await request(app.callback()).get('/docs');
    expect(failed).to.be.instanceOf(HttpProblem).and.to.have.property('problem', PROBLEMS.noSuchPath);
    expect((failed as HttpProblem).message).to.contain('/openapi.json');
  });

  it('is loaded again by the next request if it could not be loaded', async () => {
    let loads = 0;
    const load = async () => {
      if (++loads === 1) throw new Error('EMFILE');
      return Buffer.from('a document');
    };
    const app = Object.assign(new Koa(), { silent: true }).use(constant('text/plain', load));
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

/** The first example of the body that an operation requires. */
function bodyOf({ requestBody }: Operation): Pick<HttpRequest, 'body'> {
  const [example] = Object.values(requestBody?.content['application/json']?.examples ?? {});
  return example ? { body: JSON.stringify(example.value) } : {};
}
