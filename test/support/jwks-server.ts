import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JWK } from 'jose';

type Reply = (response: ServerResponse) => void;

/** An issuer's key address on 127.0.0.1 that rotates its keys, dies, and answers garbage or nothing, as it is told. */
export class JwksServer {
  #server: Server | undefined;
  #port = 0;
  #reply: Reply = () => {};
  #questions = 0;
  #onQuestion = () => {};

  static async start(...keys: JWK[]): Promise<JwksServer> {
    const issuer = new JwksServer();
    issuer.publish(...keys);
    await issuer.revive();
    return issuer;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.#port}/keys`);
  }

  /** How often it was asked so far. */
  get questions(): number {
    return this.#questions;
  }

  /** How many connections to it are open. */
  async connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server!.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  }

  /** Resolves once it was asked `count` times in all. */
  async asked(count: number): Promise<void> {
    while (this.#questions < count) await new Promise<void>((resolve) => (this.#onQuestion = resolve));
  }

  publish(...keys: JWK[]): void {
    this.answer(JSON.stringify({ keys }));
  }

  answer(body: string | Uint8Array, status = 200, headers: Record<string, string> = {}): void {
    this.#reply = (response) => response.writeHead(status, headers).end(body);
  }

  /** Takes questions, and never answers. */
  fallSilent(): void {
    this.#reply = () => {};
  }

  /** Sends the beginning of an answer, and never the rest. */
  stopHalfway(): void {
    this.#reply = (response) => response.writeHead(200).write('{"keys":[');
  }

  /** Answers without an end. */
  ramble(): void {
    this.#reply = (response) => {
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(16_384)));
      };
      response.on('drain', more);
      more();
    };
  }

  /** Answers what is set now, but only when the returned function is called. */
  hold(): () => void {
    const reply = this.#reply;
    const held: ServerResponse[] = [];
    this.#reply = (response) => void held.push(response);
    return () => {
      this.#reply = reply;
      held.forEach(reply);
    };
  }

  async die(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  }

  /** At the same address as before. */
  async revive(): Promise<void> {
    const server = createServer((_request, response) => {
      this.#questions++;
      this.#onQuestion();
      this.#reply(response);
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
  }
}
