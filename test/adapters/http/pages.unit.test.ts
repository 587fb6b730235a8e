import { EventEmitter, once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { answerNotModified } from '../../../src/adapters/http/conditions';
import { downloadLimit } from '../../../src/adapters/http/downloads';
import { Pages, entityTag } from '../../../src/adapters/http/pages';
import { HttpFailure } from '../../../src/adapters/http/failures';
import { formatQuery, parseQuery } from '../../../src/adapters/http/query';
import { PerKeyCounter } from '../../../src/adapters/http/per-key-counter';
import { FairScheduler, type Lane } from '../../../src/adapters/http/turns';
import { type User, WHOLE_LIST } from '../../../src/application';
import type { PlantList } from '../../../src/domain';
import { created, ferns, listAfter } from '../../support/given';
import { patient } from '../../support/patience';
import { rejection } from '../../support/rejection';
import { heapAfterGc } from '../../support/resources';

const [ADA, BOB] = ['ada', 'bob'] as User[] as [User, User];
const listOf = (...names: string[]) => listAfter(names.map((name, id) => created(id, name)));
/** Enough for three texts of a list of one plant, each with its overhead. */
const THREE = 3300;
const pagesWith = (maxCached?: number) => new Pages(new FairScheduler(), 60_000, maxCached);

/** The body of the page that a query selects from a list. */
async function bodyOf(pages: Pages, user: User, list: PlantList, query = '', commit = 'c') {
  const { limit, after } = parseQuery(query);
  return pages.body(user, query, {
    page: list.page(limit, after),
    head: { version: list.version, commit },
  });
}

/** The text of that page. It is short. */
async function textOf(...page: Parameters<typeof bodyOf>): Promise<Buffer> {
  return (await bodyOf(...page)) as Buffer;
}

/** Three chunks. */
const LONG = listOf(...['a', 'b', 'c'].map((name) => name.repeat(70_000)));
const stream = (pages: Pages, user: string) =>
  bodyOf(pages, user as User, LONG) as Promise<unknown> as Promise<Readable>;

const namesIn = (text: Buffer) =>
  (JSON.parse(text.toString()) as { name: string }[]).map(({ name }) => name);

const made = (text: string) => Buffer.from(text).toString('base64url');
const LIMITS = ['', '-1', '1.0', '1e3', '0x10', ' 1', 'ten', '١'].map(encodeURIComponent);
const VERSIONS = 'v1.0 v1.-1 v1.03 v1.x v2.3 v1.9007199254740992'.split(' ');
const CURSORS = ['', '3', 'v1.3', `${made('v1.3')}=`, `${made('v1.3')}A`, ...VERSIONS.map(made)];
/** Ill-formed, and longer than Link may become. */
const ILL_FORMED = ['%FF', '%zz', 'x'.repeat(5000), '%F0%9F%8C%BF'.repeat(600)];
const UNKNOWN = ['', '&&', 'lim=3', 'Limit=3', 'limits[]=3', '%zz=%zz', '__proto__=3'];

describe('The query of a list', () => {
  for (const [sent, text] of [
    ...UNKNOWN.map((sent) => [sent, ''] as const),
    ['limit=0', 'limit=0'],
    ['limit=002', 'limit=2'],
    ['limit=%32&other=1', 'limit=2'],
    ['cursor=djEuNQ&limit=2', 'limit=2&cursor=djEuNQ'],
    ['cursor=djEuNQ', 'cursor=djEuNQ'],
  ] as const)
    it(`?${sent} has the canonical form ?${text}, which has the same meaning`, () => {
      const query = parseQuery(sent);
      expect(formatQuery(query)).to.equal(text);
      expect(parseQuery(text)).to.deep.equal(query);
      if (text === '') expect(query).to.deep.equal(WHOLE_LIST);
    });

  it('is decoded only in its known parameters, because it may contain thousands of others', () => {
    const decodeAll = globalThis.decodeURIComponent;
    let decoded = 0;
    globalThis.decodeURIComponent = (text) => (decoded++, decodeAll(text));
    try {
      expect(formatQuery(parseQuery(`${'%&'.repeat(8000)}l%69m%49t=9&%6C%69%6dit=%32`))).to.equal(
        'limit=2',
      );
    } finally {
      globalThis.decodeURIComponent = decodeAll;
    }
    expect(decoded).to.equal(2);
  });

  for (const [name, message, ...values] of [
    // A plus in a query is a space.
    ['limit', 'limit must be a number of plants in decimal digits, 0 or more', '+1', ...LIMITS],
    ['cursor', 'cursor must come from the Link of an earlier response', ...CURSORS],
  ] as const)
    it(`is refused if its ${name} is malformed or given more than once`, () => {
      const malformed = [name, ...[...values, ...ILL_FORMED].map((value) => `${name}=${value}`)];
      const several = ['[]=1', '%5B%5D=1', '[=1', `=djEuNQ&${name}=1`].map(
        (rest) => `x=1&${name}${rest}`,
      );
      for (const [told, queries] of Object.entries({
        [message]: malformed,
        'takes one value': several,
      }))
        for (const sent of queries)
          expect(() => parseQuery(sent), sent)
            .to.throw(HttpFailure, told)
            .with.nested.property('failure.error', 40004);
    });
});

describe('The text of a list', () => {
  it('is rendered once until the list changes, in a buffer of its own', async () => {
    const [pages, list] = [pagesWith(), listOf('Fern')];
    const first = await textOf(pages, ADA, list);
    expect(await textOf(pages, ADA, list)).to.equal(first);
    // Not a slice of a larger Buffer, which a cached text would keep as a whole.
    expect(first.buffer.byteLength).to.equal(first.length);
    expect(pages.cachedBytes).to.equal(1024 + first.length);
    list.evolve(created(2, 'Moss'));
    expect(namesIn(await textOf(pages, ADA, list))).to.deep.equal(['Fern', 'Moss']);
  });

  it('differs for another user, another page, and a different history of the same length', async () => {
    const [pages, list, other] = [pagesWith(), listOf('Fern', 'Moss'), listOf('Aloe', 'Palm')];
    const texts: string[] = [];
    for (const [user, from, query, commit] of [
      ...['', 'limit=1', 'limit=1&cursor=djEuMQ'].flatMap((query) => [
        [ADA, list, query] as const,
        [BOB, other, query] as const,
      ]),
      [ADA, list, ''] as const,
      [ADA, other, '', 'd'] as const,
    ])
      texts.push(namesIn(await textOf(pages, user, from, query, commit)).join());
    const expected = [
      'Fern,Moss',
      'Aloe,Palm',
      'Fern',
      'Aloe',
      'Moss',
      'Palm',
      'Fern,Moss',
      'Aloe,Palm',
    ];
    expect(texts).to.deep.equal(expected);
  });

  it('has a different entity tag for each commit, which is valid in a header field', () => {
    const commits = [
      'c',
      'C',
      '☃',
      'a b',
      'a"b',
      '\n',
      '\ud800',
      '\udbff',
      'x'.repeat(129),
      'x'.repeat(130),
    ];
    const tags = commits.map((commit) => entityTag({ version: 1, commit }));
    for (const tag of tags) expect(tag).to.match(/^"1-[!#-~]{1,128}"$/);
    expect(new Set(tags)).to.have.property('size', commits.length);
    expect(tags[0]).to.equal('"1-c"');
  });

  it('is evicted beyond a bound: the oldest first, no more than necessary, and never the newest', async () => {
    const pages = pagesWith(THREE);
    const ask = (user: string, name = 'Fern') => textOf(pages, user as User, listOf(name));
    const first = await ask('1');
    const kept = [await ask('2'), await ask('3'), await ask('4')];
    for (const [i, each] of kept.entries()) expect(await ask(`${i + 2}`)).to.equal(each);
    expect(await ask('1')).not.to.equal(first);
    const long = () => ask('6', 'x'.repeat(30_000));
    const longest = await long();
    expect(await long()).to.equal(longest);
    await ask('7');
    expect(await long()).not.to.equal(longest);
  });

  it('counts as the newest after it is replaced, and a longer text respects the bound', async () => {
    const pages = pagesWith(THREE);
    const ask = (user: string, name: string) =>
      textOf(pages, user as User, listOf(name), '', `commit of ${name}`);
    for (const user of ['1', '2', '3']) await ask(user, 'Fern');
    const replaced = await ask('1', 'Moss');
    await ask('4', 'Fern');
    expect(await ask('1', 'Moss')).to.equal(replaced);
    await ask('3', 'x'.repeat(1000));
    expect(pages.cachedBytes).to.be.at.most(THREE);
  });

  it('replaces the earlier text of its user, so that one user cannot evict the texts of others', async () => {
    const [pages, list] = [pagesWith(THREE), listOf('Fern')];
    const bobs = await textOf(pages, BOB, listOf('Fern'));
    for (let id = 2; id < 12; id++) {
      list.evolve(created(id, ''));
      for (const query of ['', 'limit=1']) await textOf(pages, ADA, list, query);
    }
    expect(await textOf(pages, BOB, listOf('Fern'))).to.equal(bobs);
  });

  it('is rendered in a turn of the scheduler if it contains more than 256 plants, however short', async () => {
    for (const [count, lanes] of [
      [256, []],
      [257, [ADA]],
    ] as const) {
      const asked: Lane[] = [];
      const scheduler = { do: async <T>(lane: Lane, work: () => T) => (asked.push(lane), work()) };
      await bodyOf(new Pages(scheduler, 60_000), ADA, listAfter(ferns(count)));
      expect(asked).to.deep.equal(lanes);
    }
  });

  it('is a stream of chunks if it is long, and does not show later changes of the list', async () => {
    const list = listAfter(ferns(12_000));
    const rendered = bodyOf(pagesWith(), ADA, list);
    list.evolve(created(12_000, 'Moss'));
    const body = (await rendered) as Readable;
    body.on('data', (chunk: Buffer) => expect(chunk.length).to.be.below(66 * 1024));
    const names = namesIn(Buffer.from(await text(body)));
    expect(names).to.deep.equal(ferns(12_000).map(({ plant }) => plant.name));
  });

  it('is sent one chunk per turn of the event loop if it is long, however fast its client reads', async () => {
    let turns = 0;
    const body = (await stream(pagesWith(), 'ada')).resume();
    for (; !body.readableEnded; turns++) await turn();
    // The first of the three is rendered with the request.
    expect(turns).to.be.at.least(2);
  });

  it('is aborted if its client does not read a chunk in time', async () => {
    const pages = new Pages(new FairScheduler(), 20);
    const body = await stream(pages, 'ada');
    await once(body, 'close');
    expect(body.readableEnded).to.equal(false);
    expect(pages.streaming).to.equal(0);
  });

  it('is sent completely to a client that reads each chunk in time, however long the whole takes', async () => {
    const limitMs = patient(500);
    const list = listOf(...Array.from({ length: 30 }, (_, at) => `${at}`.padEnd(70_000)));
    const body = (await bodyOf(new Pages(new FairScheduler(), limitMs), ADA, list)) as Readable;
    const since = performance.now();
    let text = '';
    for await (const chunk of body) {
      text += String(chunk);
      await pause(limitMs / 20);
    }
    expect(performance.now() - since).to.be.above(limitMs);
    expect(namesIn(Buffer.from(text))).to.have.length(30);
  }).slow(4000);

  it('is streamed at most 32 times at once to a user and 512 times to all, but once to every user', async () => {
    const pages = pagesWith();
    const sent: Readable[] = [];
    const fill = async (user: string, times: number) => {
      for (let count = 0; count < times; count++) sent.push(await stream(pages, user));
      const refused = await rejection(stream(pages, user));
      expect(refused)
        .to.be.instanceOf(HttpFailure)
        .with.nested.property('details.reason', 'long_lists');
    };
    for (let user = 0; user < 16; user++) await fill(`user ${user}`, 32);
    await fill('another', 1);
    expect(pages.streaming).to.equal(513);
    await Promise.all(sent.map((each) => once(each.destroy(), 'close')));
    expect(pages.streaming).to.equal(0);
  });
});

describe('A condition', () => {
  it('is not split into its tags, of which there may be thousands, if none can match the list', () => {
    const tags = {
      trim: () => '',
      includes: (text: string) => text !== '"1-c',
      match: () => expect.fail(),
    };
    const conditionOf = (field: string) => ({ req: { headers: { [field]: tags } } }) as never;
    expect(answerNotModified(conditionOf('if-none-match'), '"1-c"')).to.equal(false);
    expect(() => answerNotModified(conditionOf('if-match'), '"1-c"')).to.throw(HttpFailure);
  });

  it('matches the tag of the list, weak or strong, even if the tag contains W/', () => {
    for (const prefix of ['', 'W/'])
      expect(
        answerNotModified(
          { req: { headers: { 'if-none-match': `${prefix}"1-W/c"` } } } as never,
          '"1-W/c"',
        ),
      ).to.equal(true);
  });
});

describe('The downloads that may not have been read', () => {
  it('are reset beyond the limit, the oldest first, even before the first one has closed', () => {
    const limit = downloadLimit(60_000);
    const reset: number[] = [];
    for (let id = 0; id < 64 + 3; id++) {
      const resetAndDestroy = () => reset.push(id);
      const socket = Object.assign(new EventEmitter(), { bytesRead: 0, resetAndDestroy });
      limit({ method: 'GET', length: 2 ** 20, req: { socket } } as never);
    }
    expect(reset).to.deep.equal([0, 1, 2]);
  });

  it('count once per connection, so that the address with the most connections loses one', () => {
    const limit = downloadLimit(60_000);
    const reset: string[] = [];
    const connect = (remoteAddress: string) =>
      Object.assign(new EventEmitter(), {
        remoteAddress,
        bytesRead: 0,
        resetAndDestroy: () => reset.push(remoteAddress),
      });
    const download = (socket = connect('many')) =>
      limit({ method: 'GET', length: 2 ** 20, req: { socket } } as never);
    for (let count = 0; count < 32; count++) download(connect('few'));
    const again = connect('many');
    for (let count = 0; count < 2; count++) download(again);
    for (let count = 0; count < 32; count++) download();
    again.emit('close');
    reset.length = 0;
    download();
    expect(reset).to.deep.equal(['many']);
  });
});

describe('A counter for each key', () => {
  it('keeps no entry for a key whose sum is 0', () => {
    const counter = new PerKeyCounter<string>();
    const before = heapAfterGc();
    for (let user = 0; user < 100_000; user++)
      for (const amount of [1, -1]) counter.add(`user ${user}`, amount);
    // Ten megabytes, if each left an entry.
    expect(heapAfterGc() - before).to.be.below(2 ** 20);
    expect(counter.total).to.equal(0);
  });
});
