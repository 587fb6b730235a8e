import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { expectContract } from '../support/contract-answer';
import type { Answer } from '../support/http-answer';
import { RawSocket } from '../support/raw-socket';
import { END, HOST, LIST, create } from '../support/requests';
import { ServiceProcess } from '../support/service-process';

const NOTICE_MS = 500;
const SHUTDOWN_TIMEOUT_MS = 8000;
const CLIENTS = 20;
const READINESS = `GET /health/ready HTTP/1.1\r\n${HOST}Connection: close\r\n${END}`;

/** How the service ends when it is told to, whatever its events are kept in. Called in a suite's body. */
export function drains(environment: () => Readonly<Record<string, string>>): void {
  let service: ServiceProcess;
  let id = 0;

  beforeEach(async function () {
    this.timeout(20_000).slow(5000);
    service = await ServiceProcess.start({
      ...environment(),
      SHUTDOWN_NOTICE_MS: String(NOTICE_MS),
      SHUTDOWN_TIMEOUT_MS: String(SHUTDOWN_TIMEOUT_MS),
    });
  });
  afterEach(() => service.kill());

  /** Creates and lists on one connection until an answer closes it. All answers; rejects where one is missing. */
  async function keepAlive(): Promise<Answer[]> {
    const client = await RawSocket.open(service.url);
    const answers: Answer[] = [];
    do {
      client.send(answers.length % 2 === 0 ? create(id++) : LIST);
      answers.push(await client.answer());
    } while (answers.at(-1)!.fields.get('connection') !== 'close');
    expect(await client.ended()).to.equal('end');
    return answers;
  }

  /** Asks, each time on a new connection, until none is taken any more. */
  async function watchReadiness(): Promise<number[]> {
    const statuses: number[] = [];
    for (;;) {
      const client = await RawSocket.open(service.url).catch(() => undefined);
      // None where it was reset: it came in the very moment in which the listener closed.
      const [answer] = (await client?.send(READINESS).answers())?.answers ?? [];
      if (answer === undefined) return statuses;
      expectContract(answer);
      statuses.push(answer.status);
      await delay(50);
    }
  }

  /** Sends all but the end of a request, which it then waits for. */
  async function halfRequest(): Promise<{ rest: string; client: RawSocket }> {
    const whole = create(id++);
    const client = await RawSocket.open(service.url);
    client.send(whole.slice(0, -5));
    return { rest: whole.slice(-5), client };
  }

  it('on SIGTERM readiness fails, every request is answered and its connection closed, and the exit code is 0', async () => {
    const idle = await RawSocket.open(service.url);
    await idle.send(LIST).answer();
    const silent = await RawSocket.open(service.url);
    const half = await halfRequest();
    const load = Promise.all(Array.from({ length: CLIENTS }, keepAlive));
    const readiness = watchReadiness();
    await delay(300);

    const since = performance.now();
    service.signal('SIGTERM');
    const answers = (await load).flat();
    const statuses = await readiness;
    const noticed = performance.now() - since;
    const { status, fields } = await half.client.send(half.rest).answer();
    const code = await service.exitCode();

    expect(answers).to.have.length.above(3 * CLIENTS);
    for (const answer of answers) {
      expectContract(answer);
      expect(answer.status).to.equal(200);
    }
    const change = statuses.indexOf(503);
    expect(statuses.slice(0, change).every((ready) => ready === 200)).to.equal(true);
    expect(statuses.slice(change)).to.have.length.above(2);
    expect(statuses.slice(change).every((ready) => ready === 503)).to.equal(true);
    expect(noticed).to.be.within(NOTICE_MS - 100, SHUTDOWN_TIMEOUT_MS / 2);
    expect([status, fields.get('connection')]).to.deep.equal([200, 'close']);
    expect([await idle.ended(), await silent.ended()]).to.deep.equal(['end', 'end']);
    expect(code).to.equal(0);
    expect(performance.now() - since).to.be.below(SHUTDOWN_TIMEOUT_MS);
  });

  it('on SIGINT nobody new is taken, for a person waits', async () => {
    const half = await halfRequest();
    service.signal('SIGINT');
    await delay(200);

    expect(await RawSocket.open(service.url).catch(() => 'refused')).to.equal('refused');
    expect((await half.client.send(half.rest).answer()).status).to.equal(200);
    half.client.vanish();
    expect(await service.exitCode()).to.equal(0);
  });

  it('a second signal ends it at once', async () => {
    await halfRequest();
    service.signal('SIGTERM');
    await delay(700);
    const since = performance.now();
    service.signal('SIGTERM');

    expect(await service.exitCode()).to.equal(1);
    expect(performance.now() - since).to.be.below(SHUTDOWN_TIMEOUT_MS / 4);
  });
}
