/** A service that has MAX_CONNECTIONS, and a client that opens one more. */
import { expect } from 'chai';
import { metricOf } from '../../../support/metrics';
import { RawSocket } from '../../../support/raw-socket';
import { HOST, LIST } from '../../../support/requests';
import { served } from '../../../support/served';
import { until } from '../../../support/until';

/** Addresses of this machine, each of which stands for a client. */
const [MANY, FEW, NEW] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const;

describe('A service that has MAX_CONNECTIONS connections', () => {
  const edge = served({ ADMIN_PORT: '0', MAX_CONNECTIONS: '4', STORE_TIMEOUT_MS: '60000' });
  let clients: RawSocket[];
  beforeEach(() => (clients = []));
  afterEach(() => clients.forEach((client) => client.reset()));

  async function open(...addresses: readonly string[]): Promise<RawSocket[]> {
    const opened = [];
    for (const address of addresses) opened.push(await RawSocket.open(edge().service.url, address));
    clients.push(...opened);
    return opened;
  }

  async function expectServed(...served: readonly RawSocket[]): Promise<void> {
    for (const client of served) expect((await client.send(LIST).answer()).status).to.equal(200);
  }

  /** Keeps these connections busy until the function that it returns is called. */
  async function occupy(...busy: readonly RawSocket[]): Promise<() => Promise<void>> {
    edge().store.delayMs = Infinity;
    const answers = busy.map((client) => client.send(LIST).answer());
    await refused();
    return async () => {
      edge().store.delayMs = 0;
      for (const answer of answers) expect((await answer).status).to.equal(200);
    };
  }

  /** The service reads what has arrived before it answers this. */
  const refused = () => metricOf(edge().service.adminUrl!, 'http_refused_connections_total');

  it('closes the longest-idle connection of the client with the most connections for a new one', async () => {
    const [used, silent, slow, other] = await open(MANY, MANY, MANY, FEW);
    slow!.send(`GET /plants HTTP/1.1\r\n${HOST}`);
    await expectServed(used!);
    const [first] = await open(NEW);
    await silent!.ended();
    const [second] = await open(NEW);
    await slow!.ended();
    await expectServed(used!, other!, first!, second!);
    expect(await refused()).to.equal(2);
  });

  it('refuses a new connection if all others have a request in progress, and answers those requests', async () => {
    const busy = await open(MANY, MANY, MANY, FEW);
    const release = await occupy(...busy);
    const [late] = await open(NEW);
    await late!.ended();
    await release();
    await expectServed(...busy);
    await open(NEW);
    await until(async () => (await refused()) === 2);
  });

  it('never closes a connection of one client for another client that has more', async () => {
    const [first, second, third, idle] = await open(MANY, MANY, MANY, FEW);
    const release = await occupy(first!, second!, third!);
    await open(...Array<string>(20).fill(MANY));
    // Not the ends of these connections: one that takes the place of another would not end.
    await until(async () => (await refused()) === 20);
    await release();
    await expectServed(first!, second!, third!, idle!);
  });
});
