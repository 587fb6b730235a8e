import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { TcpProxy } from './tcp-proxy';
import { until } from './until';

/** Long enough for bytes to cross the loopback twice. */
const A_WHILE_MS = 30;

describe('a TCP proxy in front of a server that answers each piece by `<piece>!`', () => {
  let server: Server;
  let received: string;
  let ended: number;
  let proxy: TcpProxy;
  const clients: Client[] = [];

  beforeEach(async () => {
    received = '';
    ended = 0;
    server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('data', (bytes) => {
        received += bytes.toString();
        if (bytes.includes('bye')) socket.end('.');
        else socket.write(`${bytes.toString()}!`);
      });
      socket.on('end', () => {
        ended += 1;
        socket.end('.');
      });
      socket.on('error', () => {});
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    proxy = await TcpProxy.to({ port: (server.address() as AddressInfo).port });
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) client.socket.destroy();
    await proxy.close();
    server.close();
  });

  async function dial(): Promise<Client> {
    const client = new Client(connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true }));
    clients.push(client);
    await once(client.socket, 'connect');
    return client;
  }

  it('passes bytes in both directions', async () => {
    const client = await dial();
    client.send('one');
    await client.received('one!');
    client.send('two');
    await client.received('one!two!');
  });

  it('passes the end of one direction, and keeps the other open', async () => {
    const client = await dial();
    client.socket.end('last');
    await client.received('last!.');
    await client.closed();

    const other = await dial();
    other.send('bye');
    await other.closed();
    other.send('but');
    await until(() => received === 'lastbyebut');
  });

  it('counts accepted and open connections', async () => {
    const [first, second] = [await dial(), await dial()];
    first.send('1');
    second.send('2');
    await Promise.all([first.received('1!'), second.received('2!')]);
    expect([proxy.accepted, proxy.open]).to.deep.equal([2, 2]);

    first.socket.end();
    await first.closed();
    expect([proxy.accepted, proxy.open]).to.deep.equal([2, 1]);
  });

  it('closes a connection if the server is not running', async () => {
    server.close();
    await once(server, 'close');
    await (await dial()).closed();
  });

  it('closes all connections, and passes new ones', async () => {
    const [first, second] = [await dial(), await dial()];
    first.send('1');
    second.send('2');
    await Promise.all([first.received('1!'), second.received('2!')]);

    proxy.cut();
    expect(proxy.open).to.equal(0);
    await Promise.all([first.closed(), second.closed()]);

    const third = await dial();
    third.send('3');
    await third.received('3!');
  });

  it('delays bytes in each direction, and keeps their order', async () => {
    const client = await dial();
    proxy.delayMs = 40;
    const sent = performance.now();
    client.send('slow');
    await until(() => client.text === 'slow!');
    // A timer may be early by a millisecond.
    expect(performance.now() - sent).to.be.above(78);

    client.send('1');
    await pause(5);
    proxy.delayMs = 0;
    client.send('2');
    await until(() => received === 'slow12');
  });

  describe('as a blackhole', () => {
    it('accepts connections, drops bytes, and closes nothing', async () => {
      const old = await dial();
      old.send('seen');
      await old.received('seen!');
      proxy.blackhole();
      const young = await dial();
      old.send('lost');
      young.send('lost');
      old.socket.end();
      await pause(A_WHILE_MS);

      expect(received).to.equal('seen');
      expect(ended).to.equal(0);
      expect(old.text).to.equal('seen!');
      expect([old.isClosed, young.isClosed]).to.deep.equal([false, false]);
    });

    it('drops replies in flight', async () => {
      const client = await dial();
      proxy.delayMs = 20;
      client.send('asked');
      await until(() => received !== '');
      proxy.blackhole();
      await pause(20 + A_WHILE_MS);
      expect(client.text).to.equal('');
    });

    it('closes, once healed, the connections that lost bytes, and no others', async () => {
      const [loser, keeper] = [await dial(), await dial()];
      proxy.blackhole();
      loser.send('lost');
      await pause(A_WHILE_MS);
      proxy.heal();
      await loser.closed();
      keeper.send('kept');
      await keeper.received('kept!');
      expect(received).to.equal('kept');
    });
  });

  describe('losing the reply to one request', () => {
    const isCommit = (bytes: Buffer) => bytes.includes('commit');

    it('passes the request to the server, and closes the connection when it answers', async () => {
      const client = await dial();
      const lost = proxy.loseReply(isCommit, 'cut');
      client.send('read');
      await client.received('read!');
      client.send('commit');

      expect((await lost).toString()).to.equal('commit!');
      await client.closed();
      expect(received).to.equal('readcommit');
      expect(client.text).to.equal('read!');
    });

    it('can leave the connection open and silent', async () => {
      const client = await dial();
      const lost = proxy.loseReply(isCommit, 'left open');
      client.send('commit');
      await lost;
      client.send('read');
      client.socket.end();
      await pause(A_WHILE_MS);

      expect(received).to.equal('commitread');
      expect(client.text).to.equal('');
      expect(client.isClosed).to.equal(false);
    });

    it('closes such a connection when it is healed', async () => {
      const client = await dial();
      const lost = proxy.loseReply(isCommit, 'left open');
      client.send('commit');
      await lost;
      proxy.heal();
      await client.closed();
    });

    it('affects one request', async () => {
      const lost = proxy.loseReply(isCommit, 'cut');
      const first = await dial();
      first.send('commit 1');
      await lost;
      const second = await dial();
      second.send('commit 2');
      await second.received('commit 2!');
    });

    it('affects no request if it was healed before', async () => {
      void proxy.loseReply(isCommit, 'cut');
      proxy.heal();
      const client = await dial();
      client.send('commit');
      await client.received('commit!');
    });

    it('affects two requests if set twice', async () => {
      const both = [proxy.loseReply(isCommit, 'cut'), proxy.loseReply(isCommit, 'cut')];
      for (const text of ['commit 1', 'commit 2']) {
        const client = await dial();
        client.send(text);
        await client.closed();
      }
      expect((await Promise.all(both)).join()).to.equal('commit 1!,commit 2!');
    });
  });

  it('closes a connection within a request: the server gets the first bytes and then the end', async () => {
    const client = await dial();
    client.send('read');
    await client.received('read!');
    const cut = proxy.cutRequest((bytes) => bytes.includes('commit'), 3);
    client.send('commit');
    await cut;
    await client.closed();
    await until(() => ended === 1);
    expect(received).to.equal('readcom');
    expect(client.text).to.equal('read!');
  });
});

class Client {
  text = '';
  isClosed = false;

  constructor(readonly socket: Socket) {
    socket.on('data', (bytes) => (this.text += bytes.toString()));
    socket.on('end', () => (this.isClosed = true));
    socket.on('close', () => (this.isClosed = true));
    socket.on('error', () => {});
  }

  send(text: string): void {
    this.socket.write(text);
  }

  /** Resolves once it has received as much as `expected`. Fails if the bytes differ. */
  async received(text: string): Promise<void> {
    await until(() => this.text.length >= text.length);
    expect(this.text).to.equal(text);
  }

  closed(): Promise<void> {
    return until(() => this.isClosed);
  }
}
