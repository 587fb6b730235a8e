import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { expectDocumented } from './documented';
import { type Answer, parseAnswer } from './http-answer';
import { SentRequests } from './sent-requests';

/** How a connection ended: properly, or cut. */
export type Ending = 'end' | 'reset';

/** A client that sends exactly the bytes it is told to, reads answers to the letter, and holds each to the OpenAPI document. */
export class RawSocket {
  #arrived: Buffer[] = [];
  readonly #sent = new SentRequests();
  #ending: Ending | undefined;
  #wake: () => void = () => {};

  private constructor(readonly socket: Socket) {
    // One that a failed test has left open shall not keep the test run from ending.
    socket.unref();
    socket.on('data', (bytes) => {
      this.#arrived.push(bytes);
      this.#wake();
    });
    socket.on('end', () => this.#end('end'));
    socket.on('error', () => this.#end('reset'));
    socket.on('close', () => this.#end('reset'));
  }

  /** Rejects where the connection is refused. */
  static async open(url: string): Promise<RawSocket> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
    await once(socket, 'connect');
    return new RawSocket(socket);
  }

  /** What has arrived and was not taken for an answer yet. */
  get unread(): Buffer {
    if (this.#arrived.length !== 1) this.#arrived = [Buffer.concat(this.#arrived)];
    return this.#arrived[0]!;
  }

  send(...bytes: readonly (string | Buffer)[]): this {
    for (const some of bytes) {
      this.socket.write(some, 'latin1');
      this.#sent.add(some);
    }
    return this;
  }

  /** Says that nothing more will be sent. */
  finish(): this {
    this.socket.end();
    return this;
  }

  /** The next answer, an interim one (1xx) too. Rejects where the connection ends before it. */
  async answer(method = 'GET'): Promise<Answer> {
    for (;;) {
      const answer = this.#take(method);
      if (answer) return answer;
      if (this.#ending) throw new Error(`the connection came to its ${this.#ending} without an answer`);
      await this.#news();
    }
  }

  /** All answers until the connection ends, and how it does. Rejects at half an answer. */
  async answers(...methods: readonly string[]): Promise<{ answers: Answer[]; ending: Ending }> {
    const ending = await this.ended();
    const answers: Answer[] = [];
    while (this.unread.length > 0) {
      const answer = this.#take(methods[answers.length] ?? 'GET');
      if (!answer) throw new Error(`half an answer: ${this.unread.toString('latin1')}`);
      answers.push(answer);
    }
    return { answers, ending };
  }

  async ended(): Promise<Ending> {
    while (!this.#ending) await this.#news();
    this.socket.destroy();
    return this.#ending;
  }

  /** Goes away without a word, and without having read. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  #take(method: string): Answer | undefined {
    const parsed = parseAnswer(this.unread, method);
    if (!parsed) return undefined;
    const [answer, rest] = parsed;
    this.#arrived = [rest];
    // An interim answer is not yet the one that the request gets.
    if (answer.status >= 200)
      expectDocumented(this.#sent.next(), { ...answer, body: answer.body.toString() });
    return answer;
  }

  #news(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }

  #end(ending: Ending): void {
    this.#ending ??= ending;
    this.#wake();
  }
}
