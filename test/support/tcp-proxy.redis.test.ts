import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { describeRedis, disconnect, plainClient } from './redis';
import { TcpProxy } from './tcp-proxy';

describeRedis('a TCP proxy in front of Redis', (redis) => {
  let proxy: TcpProxy;
  let client: Redis;
  let key: string;
  const is = (command: string) => (bytes: Buffer) => bytes.includes(command);

  beforeEach(async () => {
    key = `${redis.prefix}:counter`;
    await redis.admin.set(key, '0');
    const url = new URL(redis.url);
    proxy = await TcpProxy.to({ host: url.hostname, port: Number(url.port) });
    url.host = `127.0.0.1:${proxy.port}`;
    client = plainClient(url.href);
    await client.connect();
  });

  afterEach(async () => {
    disconnect(client);
    await proxy.close();
  });

  it('can lose the reply to an executed command', async () => {
    const lost = proxy.loseReply(is('incr'), 'cut');
    const failure = await client.incr(key).catch((error: unknown) => error);

    expect(failure).to.be.an.instanceOf(Error);
    expect((await lost).toString()).to.equal(':1\r\n');
    expect(await redis.admin.get(key)).to.equal('1');
  });

  it('can truncate a command, which is then not executed', async () => {
    const cut = proxy.cutRequest(is('incr'), 20);
    const failure = await client.incr(key).catch((error: unknown) => error);

    await cut;
    expect(failure).to.be.an.instanceOf(Error);
    expect(await redis.admin.get(key)).to.equal('0');
  });
});
