import { readFileSync } from 'node:fs';
import { type Socket, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { goalSlack } from '../../../support/goal-slack';
import { overcommitment } from '../../../support/patience';
import { RawSocket } from '../../../support/raw-socket';
import { AUTH, END, HOST, create, request } from '../../../support/requests';
import { ServiceProcess } from '../../../support/service-process';
import { unsent } from '../../../support/system-sockets';
import { until } from '../../../support/until';
import { TOKENS } from '../../../support/watched-service';
import { tokenOf } from '../../../support/token';
import { LoadGenerator } from '../../../load/generator';

const LONG = process.env['LONG'] === '1';
const MIB = 2 ** 20;
const HEAP_MIB = 512;
/** For what is not on the heap; see docs/runbooks/sizing.md. */
const BESIDE_HEAP_MIB = 512;
/** The length of the longest name of control characters that a body has room for: JSON has six characters for each. */
const CONTROL = '\u0001'.repeat(10_900);
/** The list of Alice: 2,000 of them have 130 MB of JSON. */
const PLANTS_OF_ALICE = 2000;
/** The list of Bob: 18 MB of JSON. */
const PLANTS_OF_BOB = 300;
const NAME_OF_BOB = 'x'.repeat(60_000);
const READ_BYTES_PER_MS = 3000;

const OTHERS = ['carol', 'dan', 'erin', 'frank'];
const PLANTS_OF_OTHERS = 400;

interface Download {
  /** 0 without a response. */
  readonly status: number;
  readonly received: number;
  /** Whether all bytes of the body have arrived. */
  readonly whole: boolean;
}

describe('long answers of one user', function () {
  this.timeout(120_000).slow(60_000);
  let service: ServiceProcess;
  const sockets: Socket[] = [];
  let bobs = 1000;

  before(async () => {
    service = await ServiceProcess.start({
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
      AUTH_TOKENS: [
        `alice:${TOKENS.alice},bob:${TOKENS.bob}`,
        ...OTHERS.map((user) => `${user}:${tokenOf(user)}`),
      ].join(),
      LOG_LEVEL: 'fatal',
    });
    await seed(PLANTS_OF_ALICE, (id) => create(id, CONTROL));
    await seed(PLANTS_OF_BOB, (id) => asBob(create(id, NAME_OF_BOB)));
    for (const user of OTHERS) await seed(PLANTS_OF_OTHERS, (id) => as(user, create(id, CONTROL)));
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.resetAndDestroy();
  });
  after(() => service.kill());

  async function seed(plants: number, bytes: (id: number) => string): Promise<void> {
    const client = await RawSocket.open(service.url);
    for (let id = 0; id < plants; id++) {
      expect((await client.send(bytes(id)).answer('POST')).status).to.equal(200);
    }
    client.reset();
  }

  function asBob(bytes: string): string {
    return bytes.replace(AUTH, `Authorization: Bearer ${TOKENS.bob}\r\n`);
  }

  const as = (user: string, bytes: string) =>
    bytes.replace(AUTH, `Authorization: Bearer ${tokenOf(user)}\r\n`);

  function open(bytes: string): Socket {
    const { hostname, port } = new URL(service.url);
    const socket = connect({ host: hostname, port: Number(port) });
    sockets.push(socket);
    socket.on('error', () => {});
    socket.write(bytes);
    return socket;
  }

  /** Reads the response, at `READ_BYTES_PER_MS` if `slowly`, until it is whole or the connection ends. */
  async function download(bytes: string, slowly = false): Promise<Download> {
    const socket = open(bytes);
    const since = performance.now();
    let head = '';
    let received = -1;
    let length = Infinity;
    try {
      for await (const chunk of socket as AsyncIterable<Buffer>) {
        if (received === -1) {
          head += chunk.toString('latin1');
          const end = head.indexOf('\r\n\r\n');
          if (end === -1) continue;
          length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
          received = head.length - end - 4;
        } else received += chunk.length;
        if (received >= length) break;
        const early = received / READ_BYTES_PER_MS - (performance.now() - since);
        if (slowly && early > 0) await delay(early);
      }
    } catch {
      // Reset.
    }
    socket.destroy();
    return { status: Number(head.slice(9, 12)), received, whole: received === length };
  }

  const cutOfAlice = (number: number) => request('GET', `/plants?limit=${PLANTS_OF_ALICE - 1 - number}`);

  /** Lists for Bob until `over`; each text is another one of some 600 KB. */
  async function listForBob(over: () => boolean): Promise<Download[]> {
    const downloads: Download[] = [];
    while (!over()) {
      await download(asBob(create(bobs++)));
      downloads.push(await download(asBob(request('GET', '/plants?limit=20'))));
    }
    return downloads;
  }

  it('read one after the other: no other user is refused', async () => {
    let over = false;
    const end = performance.now() + (LONG ? 20_000 : 6000);
    const attack = (async () => {
      const seen: Download[] = [];
      while (performance.now() < end) seen.push(await download(cutOfAlice(seen.length)));
      over = true;
      return seen;
    })();
    const bobs = await listForBob(() => over);
    expect((await attack).length).to.be.above(0);
    const refused = bobs.filter(({ status }) => status === 503).length;
    expect(bobs.length).to.be.above(10);
    expect(refused / bobs.length, `${refused} of ${bobs.length}`).to.be.at.most(0.05);
  });

  it('never read: the slow download of another user is whole', async () => {
    for (let i = 0; i < 40; i++) open(cutOfAlice(i)).pause();
    await delay(500);
    const { status, received, whole } = await download(asBob(request('GET', '/plants')), true);
    expect([status, whole], `${received} bytes`).to.deep.equal([200, true]);
  });

  it('of many users at once take bounded memory', async () => {
    const downloads = OTHERS.flatMap((user) =>
      Array.from({ length: 20 }, (_, i) =>
        download(as(user, request('GET', `/plants?limit=${PLANTS_OF_OTHERS - 1 - i}`))),
      ),
    );
    const whole = (await Promise.all(downloads)).filter((each) => each.whole);
    expect(whole.length).to.be.above(10);
    expect(service.running).to.equal(true);
    expect(peakMib()).to.be.below(HEAP_MIB + BESIDE_HEAP_MIB);
  });

  it('on 600 connections that do not read: another user gets its list, within bounded memory', async () => {
    for (let i = 0; i < 600; i++) open(cutOfAlice(i % 100)).pause();
    const { status, received, whole } = await download(asBob(request('GET', '/plants')));
    expect([status, whole], `${received} bytes`).to.deep.equal([200, true]);
    expect(peakMib()).to.be.below(HEAP_MIB + BESIDE_HEAP_MIB);
  });

  it('in a flood: a new client does not wait for them', async () => {
    const generator = await LoadGenerator.start();
    const get = Array.from({ length: 15 }, (_, i) => `/plants?limit=${15 + i}`);
    const group = { name: 'flood', users: [OTHERS[0]!], get, clientsPerUser: LONG ? 1500 : 300 };
    const flood = generator.play({ url: service.url, seed: 1, endsAfterMs: 6000, groups: [group] });
    const waits: number[] = [];
    const end = performance.now() + 5000;
    while (performance.now() < end) {
      const since = performance.now();
      const client = await RawSocket.open(service.url);
      expect((await client.send(asBob(request('GET', '/plants?limit=0'))).answer()).status).to.equal(200);
      client.reset();
      waits.push(performance.now() - since);
      await delay(50);
    }
    const { succeeded } = (await flood).groups['flood']!;
    await generator.stop();
    expect(succeeded.count).to.be.above(100);
    waits.sort((a, b) => a - b);
    expect(waits[Math.floor(waits.length * 0.9)], waits.map(Math.round).join()).to.be.below(
      500 * goalSlack * overcommitment(),
    );
  });

  /** The highest resident memory so far. */
  function peakMib(): number {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))![1]) / 1024;
  }
});

describe('600 clients without a token that do not read the script of the documentation', function () {
  this.timeout(120_000).slow(60_000);
  const READ_TIMEOUT_MS = 3000;
  let service: ServiceProcess;
  const sockets: Socket[] = [];

  before(async () => {
    service = await ServiceProcess.start({
      LOG_LEVEL: 'fatal',
      REQUEST_TIMEOUT_MS: String(READ_TIMEOUT_MS),
    });
  });
  after(async () => {
    for (const socket of sockets) socket.resetAndDestroy();
    await service.kill();
  });

  it('take bounded memory of the system, and are reset', async () => {
    const { hostname, port } = new URL(service.url);
    while (sockets.length < 600) {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on('error', () => {});
      socket.pause();
      socket.write(`GET /docs/swagger-ui-bundle.js HTTP/1.1\r\n${HOST}${END}`);
      sockets.push(socket);
    }
    let most = 0;
    for (let i = 0; i < 15; i++) {
      await delay(100);
      most = Math.max(most, unsent(service.url));
    }
    expect(most / MIB).to.be.within(10, 256);
    await until(() => unsent(service.url) < MIB);
  });
});
