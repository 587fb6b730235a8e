import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { bucketOf, keysOf, ownerOfKey, streamKey } from '../../../src/adapters/redis/stream-key';
import {
  convertingFields,
  identityFields,
  identityKey,
  parseIdentity,
} from '../../../src/adapters/redis/store-identity';
import { streamName } from '../../../src/testing/a-stream';
import { RUNS } from '../../domain/arbitraries';

const anyUser = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });
const inPlants = (user: string) => `plants/${user}`;

/** The hash tag of a key: the part between the first `{` and the next `}`, if that is not empty. */
function hashTag(key: string): string | undefined {
  return /^[^{]*\{([^}]+)\}/.exec(key)?.[1];
}

describe('The key of a stream', () => {
  it('is readable', () => {
    expect(streamKey('plant-store', streamName('plants/alice'))).to.equal(
      'plant-store:{39}:plants/alice:events',
    );
    expect(streamKey('test', streamName('plants/auth0|5f7c {ö}'))).to.equal(
      'test:{26}:plants/auth0%7C5f7c%20%7B%C3%B6%7D:events',
    );
    expect(streamKey('test', streamName('plants/urn:user/7'))).to.equal(
      'test:{24}:plants/urn%3Auser%2F7:events',
    );
    expect(streamKey('test', streamName('order 1'))).to.equal('test:{31}:order%201:events');
  });

  it('is unique to its name', () => {
    fc.assert(
      fc.property(anyUser, anyUser, (one, other) => {
        expect(streamKey('p', streamName(one)) === streamKey('p', streamName(other))).to.equal(one === other);
      }),
      {
        numRuns: RUNS,
        examples: [
          ['%7B', '{'],
          ['a}:events', 'a'],
          ['e\u0301', '\u00e9'],
          ['a/b', 'a%2Fb'],
          ['a/', 'a'],
        ],
      },
    );
  });

  it('leads back to its stream', () => {
    fc.assert(
      fc.property(fc.oneof(anyUser, anyUser.map(inPlants)), (name) => {
        expect(ownerOfKey('p', streamKey('p', streamName(name)))).to.deep.equal({ stream: name });
      }),
      { numRuns: RUNS, examples: [['a/b'], ['a/%2F'], ['a//'], ['a/'], ['A/b'], ['other'], ['foreign']] },
    );
  });

  it('has the bucket as its hash tag, as those of its snapshots and of all streams with its id', () => {
    fc.assert(
      fc.property(anyUser, (user) => {
        const names = [inPlants(user), `gardens/${user}`].map(streamName);
        const tags = names.flatMap((name) => keysOf('plant-store', name)).map(hashTag);
        expect(new Set(tags)).to.deep.equal(new Set([String(bucketOf(encodeURIComponent(user)))]));
      }),
      { numRuns: RUNS },
    );
  });

  it('is ASCII without spaces', () => {
    fc.assert(
      fc.property(anyUser, (user) => {
        expect(streamKey('plant-store', streamName(user))).to.match(/^[!-~]+$/);
      }),
      { numRuns: RUNS },
    );
  });

  it('stands beside those of its snapshot and of its base, and their drafts', () => {
    expect(keysOf('p', streamName('ada'))).to.deep.equal([
      'p:{59}:ada:events',
      'p:{59}:ada:snapshot',
      'p:{59}:ada:snapshot:draft',
      'p:{59}:ada:base',
      'p:{59}:ada:base:draft',
    ]);
  });
});

describe('The bucket of a stream', () => {
  it('is the FNV-1a hash of its encoded id, modulo 64, for ever', () => {
    // The first three are published vectors of FNV-1a: 0x811c9dc5, 0xe40c292c and 0xbf9cf968.
    const ids = ['', 'a', 'foobar', 'alice', '%F0%9F%8C%B1'];
    expect(ids.map(bucketOf)).to.deep.equal([5, 44, 40, 39, 30]);
  });

  for (const [name, idOf] of Object.entries<(index: number) => string>({
    numbers: String,
    'padded names': (index) => `user${String(index).padStart(6, '0')}`,
    addresses: (index) => encodeURIComponent(`name${index}@example.com`),
    'random ids': () => randomUUID(),
  }))
    it(`is one of 64, which ${name} use evenly`, () => {
      const counts = new Map<number, number>();
      for (let index = 0; index < 6400; index++) {
        const bucket = bucketOf(idOf(index));
        counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
      }
      expect([...counts.keys()].sort((a, b) => a - b)).to.deep.equal([...Array(64).keys()]);
      expect(Math.max(...counts.values())).to.be.below(150);
    });
});

describe('The key of the id of a store', () => {
  it('is that of versions without buckets, so that they find an id which they refuse', () => {
    expect(identityKey('plant-store')).to.equal('plant-store:store:{identity}:events');
  });

  it('is not the first value of the entry, which versions without buckets take for it', () => {
    for (const fields of [identityFields('an-id'), convertingFields('an-id')]) {
      expect(fields[1]).not.to.equal('an-id');
      expect(fields[0]).not.to.equal('id');
      expect(parseIdentity(fields)?.id).to.equal('an-id');
    }
  });

  it('is ignored by the catalogue', () => {
    for (const prefix of ['plant-store', 'eu.1:a_b'])
      expect(ownerOfKey(prefix, identityKey(prefix))).to.equal('other');
  });
});

describe('The owner of a key', () => {
  for (const [key, owner] of Object.entries({
    'p:{59}:ada:snapshot': 'other',
    'p:{59}:ada:snapshot:draft': 'other',
    'p:{59}:ada:base:draft': 'other',
    'p:eu.1-a_b:{59}:ada:events': 'other',
    'p:eu:{ada}:events': 'other',
    'pq:{59}:ada:events': 'foreign',
    'q:{59}:ada:events': 'foreign',
    'p q:p:{59}:ada:events': 'foreign',
    'p:{59}:ada:events:': 'foreign',
    'p:{59}:ada:events:draft': 'foreign',
    'p:{59}:ada': 'foreign',
    'p:{59}:events': 'foreign',
    'p:{ada}:events': 'foreign',
    'p:{58}:ada:events': 'foreign',
    'p:{059}:ada:events': 'foreign',
    'p:{}:ada:events': 'foreign',
    ':{59}:ada:events': 'foreign',
    'p:{59}::events': 'foreign',
    'p:{59}:a{b:events': 'foreign',
    'p:{59}:%61da:events': 'foreign',
    'p:{59}:plants%2Fada:events': 'foreign',
    'p:{59}:%zz:events': 'foreign',
    'p:{59}:a b:events': 'foreign',
  })) {
    it(`is ${owner} for ${key}`, () => expect(ownerOfKey('p', key)).to.equal(owner));
  }

  for (const [key, owner] of Object.entries({
    'p:{59}:ada:events': { stream: 'ada' },
    'p:{59}:plants/ada:events': { stream: 'plants/ada' },
    'p:{41}:a%20%7B:events': { stream: 'a {' },
    'p:{59}:ada:base': { baseOf: 'ada' },
  })) {
    it(`is ${JSON.stringify(owner)} for ${key}`, () => expect(ownerOfKey('p', key)).to.deep.equal(owner));
  }
});
