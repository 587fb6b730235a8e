import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { finished } from 'node:stream/promises';
import { replay } from '../../../src/event-sourcing';
import { parseUser, plantCodec } from '../../../src/application';
import { created, deleted, newPlant, plantId, plantsOf } from '../../support/given';
import { describeOwnRedis } from '../../support/redis';
import { convertStore } from '../../../src/adapters/redis/conversion';
import { CONVERSION } from './old-layout';
import { openStore, plantsOver } from './open-store';

const ADA = parseUser('ada')!;
const ODD = parseUser('auth0|{b}é 🌵')!;

/** The append-only file of a Redis that a service of November 2026 wrote to. */
const RECORDED = readFileSync('test/fixtures/recorded-in-2026-11.aof');

describeOwnRedis('A stream of an earlier version of the service', (startRedis) => {
  it('is read unchanged once it is converted, and extended', async () => {
    const redis = await startRedis();
    await send(redis.url, RECORDED);
    await convertStore({ ...CONVERSION, url: redis.url });
    const { store, close } = await openStore(redis.url);
    const eventsOf = async (user: typeof ADA) => {
      const events = [];
      for await (const page of replay(store, plantsOf(user), plantCodec)) events.push(...page);
      return events;
    };

    const history = await eventsOf(ADA);
    expect(history.map(({ event }) => event)).to.deep.equal([
      created(1, 'Fern', 'indoor'),
      created(plantId('9007199254740993'), 'Büschelfarn "🌵"\n', ''),
      created(plantId('-9223372036854775808'), 'e\u0301 is not \u00e9 \u2028\0'),
      deleted(1),
      created(1, '__proto__', 'null'),
      created(plantId('9223372036854775807'), 'Moss'),
      deleted(plantId('9007199254740993')),
    ]);
    expect(history[0]).to.include({ version: 1, commit: '2026-11-22T10:56:17.135Z-0871ec426e7d8360' });
    expect(new Set(history.slice(4).map(({ commit }) => commit)).size, 'commits of the last round').to.equal(
      1,
    );
    expect((await eventsOf(ODD)).map(({ event }) => event)).to.deep.equal([created(0, 'Aloe')]);

    const plants = plantsOver(store);
    expect(await plants.create(ADA, newPlant(1, 'Ivy'))).to.deep.equal({ rejection: 'id-taken' });
    await plants.create(ADA, newPlant(2, 'Ivy'));
    expect((await plants.list(ADA)).head.version).to.equal(8);
    await close();
  });
});

/** Sends raw commands to a Redis, and waits for all replies. */
async function send(url: string, bytes: Buffer): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.end(Buffer.concat([bytes, Buffer.from('*1\r\n$4\r\nQUIT\r\n')]));
  await finished(socket.resume());
}
