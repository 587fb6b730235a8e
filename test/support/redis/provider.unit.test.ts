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

  it('looks for nothing unless a suite asks', async () => {
    await provider(undefined, has('Docker')).close();
    expect([looked, printed, closed]).to.deep.equal([[], [], []]);
  });

  it('takes servers from the first place that has them, whoever asks and how often', async () => {
    const it = provider(undefined, has('Docker'), has('redis-server'));
    const [one, other] = await Promise.all([it.servers(), it.servers()]);
    expect(one).to.include({ name: 'Docker' });
    expect(other).to.equal(one);
    expect(looked).to.deep.equal(['Docker']);
    expect(printed).to.deep.equal(['Redis servers for the tests: Docker']);
  });

  it('goes on to the next place, and prints why', async () => {
    const it = provider(undefined, lacks('no Docker'), has('redis-server'));
    expect(await it.servers()).to.include({ name: 'redis-server' });
    expect(printed).to.deep.equal(['Redis servers for the tests: redis-server; no Docker']);
  });

  it('gives all reasons where no place has any', async () => {
    const it = provider(undefined, lacks('no Docker'), lacks('no redis-server'));
    const reason = 'no Redis here: no Docker; no redis-server';
    expect(await it.servers()).to.deep.equal({ reason });
    expect(await it.shared()).to.deep.equal({ reason });
    expect(looked).to.have.lengthOf(2);
    await it.close();
  });

  it('starts the shared Redis in that place', async () => {
    const it = provider(undefined, has('Docker'));
    const failure: unknown = await it.shared().catch((error: unknown) => error);
    expect(String(failure)).to.equal('Error: started in Docker');
  });

  it('shares REDIS_URL where it is given, and prints its host but no password', async () => {
    const url = 'redis://ada:secret@db.example:6380/3';
    expect(await provider(url, has('Docker')).shared()).to.deep.equal({ url });
    expect(looked).to.deep.equal([]);
    expect(printed).to.deep.equal(['Redis shared by the suites: REDIS_URL (db.example:6380)']);
  });

  it('never hands out REDIS_URL to be killed', async () => {
    expect(await provider('redis://db.example', has('Docker')).servers()).to.include({ name: 'Docker' });
  });

  it('leaves its place in the end', async () => {
    const it = provider(undefined, has('Docker'));
    await it.servers();
    await it.close();
    expect(closed).to.deep.equal(['Docker']);
  });
});
