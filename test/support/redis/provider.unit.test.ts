import { expect } from 'chai';
import { type RedisLookup, RedisProvider } from './provider';

describe('the provider of the Redis suites', () => {
  let looked: string[];
  let printed: string[];
  let closed: string[];
  beforeEach(() => {
    [looked, printed, closed] = [[], [], []];
  });

  function has(name: string): RedisLookup {
    return async () => {
      looked.push(name);
      return {
        name,
        create: () => Promise.reject(new Error(`started in ${name}`)),
        close: async () => void closed.push(name),
      };
    };
  }

  function lacks(reason: string): RedisLookup {
    return async () => {
      looked.push(reason);
      return { reason };
    };
  }

  function provider(url: string | undefined, ...lookups: RedisLookup[]): RedisProvider {
    return new RedisProvider(url, lookups, (line) => printed.push(line));
  }

  it('searches only if a suite requests a server', async () => {
    await provider(undefined, has('Docker')).close();
    expect([looked, printed, closed]).to.deep.equal([[], [], []]);
  });

  it('uses the first lookup that finds servers for all requests', async () => {
    const it = provider(undefined, has('Docker'), has('redis-server'));
    const [one, other] = await Promise.all([it.servers(), it.servers()]);
    expect(one).to.include({ name: 'Docker' });
    expect(other).to.equal(one);
    expect(looked).to.deep.equal(['Docker']);
    expect(printed).to.deep.equal(['Redis servers for the tests: Docker']);
  });

  it('tries the next lookup, and prints why', async () => {
    const it = provider(undefined, lacks('no Docker'), has('redis-server'));
    expect(await it.servers()).to.include({ name: 'redis-server' });
    expect(printed).to.deep.equal(['Redis servers for the tests: redis-server; no Docker']);
  });

  it('gives all reasons if no lookup finds servers', async () => {
    const it = provider(undefined, lacks('no Docker'), lacks('no redis-server'));
    const reason = 'no Redis here: no Docker; no redis-server';
    expect(await it.servers()).to.deep.equal({ reason });
    expect(await it.shared()).to.deep.equal({ reason });
    expect(looked).to.have.lengthOf(2);
    await it.close();
  });

  it('starts the shared Redis from the lookup that it uses', async () => {
    const it = provider(undefined, has('Docker'));
    const failure: unknown = await it.shared().catch((error: unknown) => error);
    expect(String(failure)).to.equal('Error: started in Docker');
  });

  it('shares REDIS_URL if it is set, and prints its host but no password', async () => {
    const url = 'redis://ada:secret@db.example:6380/3';
    expect(await provider(url, has('Docker')).shared()).to.deep.equal({ url });
    expect(looked).to.deep.equal([]);
    expect(printed).to.deep.equal(['Redis shared by the suites: REDIS_URL (db.example:6380)']);
  });

  it('never uses REDIS_URL for suites that kill servers', async () => {
    expect(await provider('redis://db.example', has('Docker')).servers()).to.include({ name: 'Docker' });
  });

  it('closes the source that it has used', async () => {
    const it = provider(undefined, has('Docker'));
    await it.servers();
    await it.close();
    expect(closed).to.deep.equal(['Docker']);
  });
});
