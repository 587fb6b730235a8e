import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Answer } from '../../../support/http-answer';
import { RawSocket } from '../../../support/raw-socket';
import { END, HOST, LIST, create } from '../../../support/requests';
import { ServiceProcess } from '../../../support/service-process';
import { until } from '../../../support/until';

const NOTICE_MS = 2000;
/** Longer than any test may take, so that this timeout never ends a test. */
const SHUTDOWN_TIMEOUT_MS = 120_000;
/** Within this time a second signal counts as the first one; see `stopRequest` in serve.ts. */
const SAME_REQUEST_MS = 500;
const CLIENTS = 20;
const READINESS = `GET /health/ready HTTP/1.1\r\n${HOST}Connection: close\r\n${END}`;

/** The tests of a graceful shutdown, for any event store. Called in the body of a suite. */
export function drains(environment: () => Readonly<Record<string, string>>): void {
  let service: ServiceProcess;
  let id = 0;

  async function start(noticeMs: number): Promise<void> {
    service = await ServiceProcess.start({
      ...environment(),
      SHUTDOWN_NOTICE_MS: String(noticeMs),
      SHUTDOWN_TIMEOUT_MS: String(SHUTDOWN_TIMEOUT_MS),
      REQUEST_TIMEOUT_MS: String(SHUTDOWN_TIMEOUT_MS),
    });
  }
  afterEach(() => service.kill());

  /** Creates and lists on one connection until a response closes it. Rejects if a response is missing. */
  async function keepAlive(answers: Answer[]): Promise<void> {
    const client = await RawSocket.open(service.url);
    do {
      client.send(answers.length % 2 === 0 ? create(id++) : LIST);
      answers.push(await client.answer());
    } while (answers.at(-1)!.fields.get('connection') !== 'close');
    expect(await client.ended()).to.equal('end');
  }

  /** Sends requests, each on a new connection, until none is accepted. */
  async function watchReadiness(statuses: number[]): Promise<void> {
    for (;;) {
      const client = await RawSocket.open(service.url).catch(() => undefined);
      // No response if the connection was reset, because it arrived at the moment when the listener closed.
      const [answer] = (await client?.send(READINESS).answers())?.answers ?? [];
      if (answer === undefined) return;
      statuses.push(answer.status);
      await delay(20);
    }
  }

  /** Sends a request without its last bytes, and waits until the service reads the body. */
  async function halfRequest(): Promise<{ rest: string; client: RawSocket }> {
    const whole = create(id++, 'Fern', 'Expect: 100-continue\r\n');
    const client = await RawSocket.open(service.url);
    expect((await client.send(whole.slice(0, -5)).answer()).status).to.equal(100);
    return { rest: whole.slice(-5), client };
  }

  async function refusesConnections(): Promise<boolean> {
    const client = await RawSocket.open(service.url).catch(() => undefined);
    client?.reset();
    return client === undefined;
  }

  it('fails readiness on SIGTERM, answers every request, closes its connection and exits with 0', async () => {
    await start(NOTICE_MS);
    const idle = await RawSocket.open(service.url);
    await idle.send(LIST).answer();
    const silent = await RawSocket.open(service.url);
    const answers = Array.from({ length: CLIENTS }, (): Answer[] => []);
    const statuses: number[] = [];
    const load = Promise.all([...answers.map(keepAlive), watchReadiness(statuses)]);
    await until(() => answers.every(({ length }) => length > 2) && statuses.length > 0);
    const half = await halfRequest();

    const since = performance.now();
    service.signal('SIGTERM');
    await load;
    const noticed = performance.now() - since;
    const { status, fields } = await half.client.send(half.rest).answer();
    const code = await service.exitCode();

    for (const answer of answers.flat()) {
      expect(answer.status).to.equal(200);
    }
    const change = statuses.indexOf(503);
    expect(change).to.be.above(0);
    expect(new Set(statuses.slice(0, change))).to.deep.equal(new Set([200]));
    expect(new Set(statuses.slice(change))).to.deep.equal(new Set([503]));
    expect(noticed).to.be.above(NOTICE_MS - 100);
    expect([status, fields.get('connection')]).to.deep.equal([200, 'close']);
    expect([await idle.ended(), await silent.ended()]).to.deep.equal(['end', 'end']);
    expect(code).to.equal(0);
  }).slow(5000);

  it('accepts no connection after SIGINT, without a notice', async () => {
    await start(SHUTDOWN_TIMEOUT_MS);
    const half = await halfRequest();
    service.signal('SIGINT');
    await until(refusesConnections);

    expect((await half.client.send(half.rest).answer()).status).to.equal(200);
    half.client.reset();
    expect(await service.exitCode()).to.equal(0);
  }).slow(5000);

  it('ends at once on a second signal', async () => {
    await start(0);
    await halfRequest();
    service.signal('SIGTERM');
    await until(refusesConnections);
    await delay(SAME_REQUEST_MS);
    service.signal('SIGTERM');

    expect(await service.exitCode()).to.equal(1);
  }).slow(5000);
}
