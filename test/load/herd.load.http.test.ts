import { expect } from 'chai';
import { BEGINNING } from '../../src/event-sourcing';
import { created, encoded, plantStreamOf } from '../support/given';
import { request } from '../support/requests';
import { Served } from '../support/served';
import { tokenOf } from '../support/token';

const USERS = 2000;
const name = (user: number) => `user${user}`;
const token = (user: number) => `token-of-${user}`;

describe(`${USERS} users that come back at once after a restart`, function () {
  this.timeout(300_000).slow(60_000);
  const edge = new Served();
  const { store } = edge;
  before(async () => {
    for (let user = 0; user < USERS; user++) {
      const events = encoded(created(user, name(user)));
      await store.append(plantStreamOf(name(user)), BEGINNING, `commit-${user}`, events);
    }
    const AUTH_TOKENS = Array.from(
      { length: USERS },
      (_, user) => `${name(user)}:${token(user)}`,
    ).join();
    // A busy machine may take long to load all histories.
    await edge.start({ AUTH_TOKENS, STORE_TIMEOUT_MS: '60000', LOG_LEVEL: 'error' });
  });
  after(() => edge.stop());

  it('all get their own lists, with one read of the store for each user', async () => {
    const clients = [];
    while (clients.length < USERS) clients.push(await edge.send());
    // A network takes about this long.
    store.delayMs = 5;
    const { trips } = store;
    await Promise.all(
      clients.map(async (client, user) => {
        const bytes = request('GET', '/plants').replace(tokenOf('alice'), token(user));
        const { status, body } = await client.send(bytes).answer();
        expect([status, body.toString()]).to.deep.equal([200, `[{"name":"${name(user)}"}]`]);
      }),
    );
    expect(store.trips - trips).to.equal(USERS);
    expect(edge.service.log).to.deep.equal([]);
  });
});
