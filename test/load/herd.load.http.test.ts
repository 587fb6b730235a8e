import { expect } from 'chai';
import { BEGINNING, type StreamName } from '../../src/event-sourcing';
import { streamName } from '../../src/testing/a-stream';
import { created, encoded } from '../support/given';
import { RawSocket } from '../support/raw-socket';
import { request } from '../support/requests';
import { SlowStore } from '../support/slow-store';
import { TOKENS, type WatchedService, startWatched } from '../support/watched-service';

const USERS = 2000;
const name = (user: number) => `user${user}`;
const token = (user: number) => `token-of-${user}`;

describe(`${USERS} users that come back at once after a restart`, function () {
  this.timeout(300_000).slow(60_000);
  const store = new SlowStore();
  let service: WatchedService;
  let clients: RawSocket[];

  before(async () => {
    for (let user = 0; user < USERS; user++) {
      const stream: StreamName = streamName(`plants/${name(user)}`);
      await store.append(stream, BEGINNING, `commit-${user}`, encoded(created(user, name(user))));
    }
    const AUTH_TOKENS = Array.from({ length: USERS }, (_, user) => `${name(user)}:${token(user)}`).join();
    // A busy machine may take long to load all histories.
    const environment = { AUTH_TOKENS, STORE_TIMEOUT_MS: '60000', LOG_LEVEL: 'error' };
    service = await startWatched(environment, { eventStore: store });
    clients = [];
    while (clients.length < USERS) clients.push(await RawSocket.open(service.url));
    // Of a network.
    store.delayMs = 5;
  });
  after(async () => {
    for (const client of clients) client.reset();
    await service.stop();
  });

  it('are all served, each with its own list and from one read', async () => {
    const { trips } = store;
    await Promise.all(
      clients.map(async (client, user) => {
        const { status, body } = await client
          .send(request('GET', '/plants').replace(TOKENS.alice, token(user)))
          .answer();
        expect([status, body.toString()]).to.deep.equal([200, `[{"name":"${name(user)}"}]`]);
      }),
    );
    expect(store.trips - trips).to.equal(USERS);
    expect(service.log).to.deep.equal([]);
  });
});
