import { expect } from 'chai';
import { Flood } from '../../../support/flood';
import { RawSocket } from '../../../support/raw-socket';
import { AUTH, END, HOST, LIST, request } from '../../../support/requests';
import { IsolatedService } from '../../../support/isolated-service';

const LONG = process.env['LONG'] === '1';
const CONNECTIONS = LONG ? 4000 : 1500;
const TRIES = LONG ? 40 : 5;

const FLOODS: Readonly<Record<string, string>> = {
  '401': LIST.replace(AUTH, ''),
  ...(LONG && {
    '404': `GET /nowhere HTTP/1.1\r\n${HOST}${END}`,
    '/health/live': `GET /health/live HTTP/1.1\r\n${HOST}${END}`,
    GET: LIST,
  }),
  POST: request('POST', '/plants', '', '{"id":1,"name":"Fern"}'),
};

describe(`${CONNECTIONS} connections that send the next request as soon as they get a response`, function () {
  this.slow(20_000);
  let service: IsolatedService;
  let flood: Flood;

  beforeEach(async () => {
    service = await IsolatedService.start({
      MAX_CONNECTIONS: '10000',
      MAX_USER_REQUESTS: '10000',
      LOG_LEVEL: 'warn',
    });
  });
  afterEach(async () => {
    await flood.stop();
    await service.stop();
  });

  for (const [what, bytes] of Object.entries(FLOODS)) {
    it(`get only a few responses each before a new client gets its first one: ${what}`, async () => {
      flood = await Flood.start({ url: service.url, request: bytes, connections: CONNECTIONS });
      const waits: number[] = [];
      for (let i = 0; i < TRIES; i++) {
        const before = await flood.answers();
        const client = await RawSocket.open(service.url);
        const { status } = await client.send(LIST).answer();
        client.reset();
        expect(status).to.be.oneOf([200, 503]);
        waits.push((await flood.answers()) - before);
      }
      expect(Math.max(...waits) / CONNECTIONS, `responses meanwhile: ${waits.join()}`).to.be.below(4);
    });
  }
});
