/** Bodies that are sent slowly, over many connections. */
import { expect } from 'chai';
import { errorOf } from '../../../support/http-answer';
import { RawSocket } from '../../../support/raw-socket';
import { AUTH, HOST, JSON_TYPE, create } from '../../../support/requests';
import { SlowStore } from '../../../support/slow-store';
import { until } from '../../../support/until';
import { TOKENS, type WatchedService, startWatched } from '../../../support/watched-service';

const MIB = 2 ** 20;
const BOUND = 32 * MIB;
const LENGTH = 60_000;
const OF_BOB = `Authorization: Bearer ${TOKENS.bob}\r\n`;

describe('bodies that are being received', function () {
  this.slow(10_000);
  let service: WatchedService;
  let store: SlowStore;
  const clients: RawSocket[] = [];

  beforeEach(async () => {
    store = new SlowStore();
    service = await startWatched({ REQUEST_TIMEOUT_MS: '60000', LOG_LEVEL: 'error' }, { eventStore: store });
  });
  afterEach(async () => {
    store.delayMs = 0;
    for (const client of clients.splice(0)) client.reset();
    await service.stop();
  });

  async function send(...bytes: readonly string[]): Promise<RawSocket> {
    const client = await RawSocket.open(service.url);
    clients.push(client);
    return client.send(...bytes);
  }
  async function valueOf(metric: string): Promise<number> {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    return Number(new RegExp(`^${metric} (.*)$`, 'm').exec(text)![1]);
  }
  const bodyOf = (id: number, name: string) => {
    const text = JSON.stringify({ id, name });
    return text.slice(0, -1) + ' '.repeat(LENGTH - text.length) + text.slice(-1);
  };
  const header = (auth: string) =>
    `POST /plants HTTP/1.1\r\n${HOST}${auth}${JSON_TYPE}Content-Length: ${LENGTH}\r\n\r\n`;
  /** All but the last byte of a request. */
  const slow = (auth: string, id: number) => send(header(auth), bodyOf(id, 'Fern').slice(0, -1));

  it('take bounded memory: those of the user with most of them are refused, the first ones first', async () => {
    const ofBob = await slow(OF_BOB, 1);
    await until(async () => (await valueOf('http_body_bytes')) > LENGTH);
    const count = Math.ceil((1.5 * BOUND) / LENGTH);
    const ofAlice: RawSocket[] = [];
    for (let id = 0; id < count; id++) ofAlice.push(await slow(AUTH, id));

    const refused = await ofAlice[0]!.answer('POST');
    expect([refused.status, errorOf(refused)]).to.deep.equal([503, 50300]);
    expect(refused.fields.get('retry-after')).to.match(/^[12]$/);
    expect(refused.fields.get('connection')).to.equal('close');
    await until(async () => (await valueOf('http_request_failures_total{reason="bodies"}')) >= count / 4);
    expect(await valueOf('http_body_bytes')).to.be.within(BOUND / 2, BOUND);

    expect((await ofBob.send('}').answer('POST')).status).to.equal(200);
    expect((await (await send(create(2).replace(AUTH, OF_BOB))).answer('POST')).status).to.equal(200);
    expect((await ofAlice.at(-1)!.send('}').answer('POST')).status).to.equal(200);
    for (const client of clients.splice(0)) client.reset();
    await until(async () => (await valueOf('http_body_bytes')) === 0);
  });

  it('are bounded although each is sent byte by byte, which takes more memory', async () => {
    const piece = '1\r\n \r\n'.repeat(LENGTH);
    const chunked = `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n`;
    const first = await send(chunked, piece);
    const second = await send(chunked, piece);
    const refused = await Promise.race([first.answer('POST'), second.answer('POST')]);
    expect([refused.status, errorOf(refused)]).to.deep.equal([503, 50300]);
  });

  it('are bounded also while they wait for an earlier response on their connection', async () => {
    store.delayMs = 60_000;
    const body = 'x'.repeat(16_000);
    const queued = `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}Content-Length: ${body.length}\r\n\r\n${body}`;
    const each = 100;
    for (let bytes = 0; bytes < 1.5 * BOUND; bytes += each * body.length)
      await send(create(1), queued.repeat(each));
    await until(async () => (await valueOf('http_refused_connections_total{reason="pipelining"}')) > 5);
  });
});
