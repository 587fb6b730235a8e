import { expect } from 'chai';
import { errorOf } from '../../../support/http-answer';
import { RawSocket } from '../../../support/raw-socket';
import { END, HOST } from '../../../support/requests';
import { type WatchedService, startWatched } from '../../../support/watched-service';

describe('health', () => {
  let service: WatchedService;
  let client: RawSocket;

  beforeEach(async () => {
    service = await startWatched();
    client = await open();
  });
  afterEach(async () => {
    client.reset();
    await service.stop();
  });

  const open = () => RawSocket.open(service.url);
  const ask = (method: string, path: string, from = client) =>
    from.send(`${method} ${path} HTTP/1.1\r\n${HOST}${END}`).answer(method);

  const bodies = {
    live: '{"status":"live"}',
    ready: '{"status":"ready","reads":true,"writes":true}',
  };
  for (const [state, body] of Object.entries(bodies)) {
    it(`/health/${state} needs no token`, async () => {
      const answer = await ask('GET', `/health/${state}`);
      expect(answer.status).to.equal(200);
      expect(answer.body.toString()).to.equal(body);
    });

    it(`/health/${state} allows HEAD and OPTIONS, and no other method`, async () => {
      expect((await ask('HEAD', `/health/${state}`)).status).to.equal(200);
      expect((await ask('OPTIONS', `/health/${state}`)).status).to.equal(204);
      for (const method of ['POST', 'DELETE', 'PUT', 'TRACE']) {
        const answer = await ask(method, `/health/${state}`);
        expect(answer.status).to.equal(405);
        expect(answer.fields.get('allow')).to.equal('GET, HEAD, OPTIONS');
      }
    });
  }

  for (const path of ['/health', '/health/', '/health/live/', '/Health/live', '/health/other', '/healthz']) {
    it(`answers 404 at ${path}`, async () => {
      expect(errorOf(await ask('GET', path))).to.equal(40400);
    });
  }

  it('reports live but not ready during a shutdown', async () => {
    const [first, second, third] = [client, await open(), await open()];
    const stopped = service.stop(1000);
    const [live, ready, head] = await Promise.all([
      ask('GET', '/health/live', first),
      ask('GET', '/health/ready', second),
      ask('HEAD', '/health/ready', third),
    ]);

    expect([live.status, ready.status, head.status]).to.deep.equal([200, 503, 503]);
    expect(errorOf(ready)).to.equal(50300);
    await stopped;
  });
});
