import { type IncomingHttpHeaders, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JWK } from 'jose';

type Reply = (response: ServerResponse) => void;

/** A JWKS server on 127.0.0.1 under the control of a test: it rotates keys, stops, and sends garbage or nothing. */
export class JwksServer {
  #server: Server | undefined;
  #port = 0;
  #reply: Reply = () => {};
  #questions = 0;
  #headers: IncomingHttpHeaders = {};
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

  /** The number of requests so far. */
  get questions(): number {
    return this.#questions;
  }

  /** Of the latest request. */
  get headers(): IncomingHttpHeaders {
    return this.#headers;
  }

  /** How many connections to it are open. */
  async connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server!.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  }

  /** Resolves after `count` requests in total. */
  async asked(count: number): Promise<void> {
    while (this.#questions < count) await new Promise<void>((resolve) => (this.#onQuestion = resolve));
  }

  publish(...keys: JWK[]): void {
    this.answer(JSON.stringify({ keys }));
  }

  answer(body: string | Uint8Array, status = 200, headers: Record<string, string> = {}): void {
    this.#reply = (response) => response.writeHead(status, headers).end(body);
  }

  /** Accepts requests, and never responds. */
  fallSilent(): void {
    this.#reply = () => {};
  }

  /** Sends the start of a response, and never the rest. */
  stopHalfway(): void {
    this.#reply = (response) => response.writeHead(200).write('{"keys":[');
  }

  /** Sends an endless response. */
  ramble(): void {
    this.#reply = (response) => {
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(16_384)));
      };
      response.on('drain', more);
      more();
    };
  }

  /** Sends the current response, but only when the returned function is called. */
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
    const server = createServer(({ headers }, response) => {
      this.#questions++;
      this.#headers = headers;
      this.#onQuestion();
      this.#reply(response);
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
  }
}
