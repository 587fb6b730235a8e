import { expect } from 'chai';
import { type ListPage, Lists, canonical, parseQuery } from '../../../src/adapters/http/lists';
import { HttpProblem } from '../../../src/adapters/http/problems';
import { Selection, type User, WHOLE_LIST } from '../../../src/application';
import type { PlantList } from '../../../src/domain';
import { created, ferns, listAfter } from '../../support/given';
import { heapAfterGc } from '../../support/resources';

const [ADA, BOB] = ['ada', 'bob'] as User[] as [User, User];
const listOf = (...names: string[]) => listAfter(names.map((name, id) => created(id, name)));
/** Enough for three texts of a list of one plant, each with its overhead. */
const THREE = 3300;

/** The page that a query selects from a list. */
function pageOf(lists: Lists, user: User, list: PlantList, query = '', commit = 'c'): ListPage {
  return lists.page(user, new Selection(list, parseQuery(query), { version: list.version, commit }));
}

/** The text of that page. It is short. */
function textOf(...page: Parameters<typeof pageOf>): Buffer {
  return pageOf(...page).text as Buffer;
}

const namesIn = (text: Buffer) => (JSON.parse(text.toString()) as { name: string }[]).map(({ name }) => name);

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
    it(`?${sent} is canonically ?${text}, which is read as the same`, () => {
      const query = parseQuery(sent);
      expect(canonical(query)).to.equal(text);
      expect(parseQuery(text)).to.deep.equal(query);
      if (text === '') expect(query).to.deep.equal(WHOLE_LIST);
    });

  for (const [name, message, ...values] of [
    // A plus in a query is a space.
    ['limit', 'limit must be a number of plants in decimal digits, 0 or more', '+1', ...LIMITS],
    ['cursor', 'cursor must come from the Link of an earlier response', ...CURSORS],
  ] as const)
    it(`is refused with a malformed ${name}, or with more than one`, () => {
      const malformed = [name, ...[...values, ...ILL_FORMED].map((value) => `${name}=${value}`)];
      const several = ['[]=1', '%5B%5D=1', '[=1', `=djEuNQ&${name}=1`].map((rest) => `x=1&${name}${rest}`);
      for (const [told, queries] of Object.entries({ [message]: malformed, 'takes one value': several }))
        for (const sent of queries)
          expect(() => parseQuery(sent), sent)
            .to.throw(HttpProblem, told)
            .with.nested.property('problem.error', 40004);
    });
});

describe('The text of a list', () => {
  it('is rendered once while nothing is written, in memory of its own', () => {
    const [lists, list] = [new Lists(), listOf('Fern')];
    const first = textOf(lists, ADA, list);
    for (const query of ['', 'limit=1', 'limit=1000000'])
      expect(textOf(lists, ADA, list, query)).to.equal(first);
    // Not a slice of a larger Buffer, which a cached text would keep as a whole.
    expect(first.buffer.byteLength).to.equal(first.length);
    expect(lists.bytes).to.equal(1024 + first.length);
    list.evolve(created(2, 'Moss'));
    expect(namesIn(textOf(lists, ADA, list))).to.deep.equal(['Fern', 'Moss']);
  });

  it('differs for another user, another page, and another history of the same length', () => {
    const [lists, list, other] = [new Lists(), listOf('Fern', 'Moss'), listOf('Aloe', 'Palm')];
    const texts = ['', 'limit=1', 'limit=1&cursor=djEuMQ'].flatMap((query) => [
      namesIn(textOf(lists, ADA, list, query)).join(),
      namesIn(textOf(lists, BOB, other, query)).join(),
    ]);
    texts.push(namesIn(textOf(lists, ADA, other, '', 'd')).join());
    expect(texts).to.deep.equal(['Fern,Moss', 'Aloe,Palm', 'Fern', 'Aloe', 'Moss', 'Palm', 'Aloe,Palm']);
  });

  it('has a different entity tag for each commit, valid in a header, and the same on each page', () => {
    const commits = ['c', 'C', '☃', 'a b', 'a"b', '\n', '\ud800', '\udbff', 'x'.repeat(129), 'x'.repeat(130)];
    const tags = commits.flatMap((commit) =>
      ['', 'limit=0'].map((query) => pageOf(new Lists(), ADA, listOf('Fern'), query, commit).etag),
    );
    for (const tag of tags) expect(tag).to.match(/^"1-[!#-~]{1,128}"$/);
    expect(new Set(tags)).to.have.property('size', commits.length);
    expect(tags[0]).to.equal('"1-c"');
  });

  it('is dropped beyond a bound, the oldest first, not more than necessary, and never the newest', () => {
    const lists = new Lists(THREE);
    const ask = (user: string, name = 'Fern') => textOf(lists, user as User, listOf(name));
    const [first, ...kept] = ['1', '2', '3', '4'].map((user) => ask(user));
    for (const [i, text] of kept.entries()) expect(ask(`${i + 2}`)).to.equal(text);
    expect(ask('1')).not.to.equal(first);
    const long = () => ask('6', 'x'.repeat(30_000));
    const text = long();
    expect(long()).to.equal(text);
    ask('7');
    expect(long()).not.to.equal(text);
  });

  it('replaces the earlier text of its page, so that writes of one user do not evict the texts of others', () => {
    const [lists, list] = [new Lists(THREE), listOf('Fern')];
    const bobs = textOf(lists, BOB, listOf('Fern'));
    for (let id = 2; id < 12; id++) {
      list.evolve(created(id, ''));
      textOf(lists, ADA, list);
    }
    expect(textOf(lists, BOB, listOf('Fern'))).to.equal(bobs);
  });

  it('is a sequence of chunks if it is long, which later changes of the list do not show', () => {
    const list = listAfter(ferns(12_000));
    const page = pageOf(new Lists(), ADA, list);
    list.evolve(created(12_000, 'Moss'));
    const chunks = [...(page.text as Iterable<string>)];
    for (const chunk of chunks) expect(chunk.length).to.be.below(65 * 1024);
    const names = namesIn(Buffer.from(chunks.join('')));
    expect(names).to.deep.equal(ferns(12_000).map(({ plant }) => plant.name));
  });

  it('is sent at most 32 times at once to one user, and 512 times to all, if it is long; each user has one', () => {
    const lists = new Lists();
    const enter = (user: string, times: number) => {
      for (let count = 0; count < times; count++) lists.enter(user as User);
      expect(() => lists.enter(user as User)).to.throw('too many long lists');
    };
    for (let user = 0; user < 16; user++) enter(`user ${user}`, 32);
    enter('another', 1);
    expect(lists.sent).to.equal(513);
  });

  it('leaves nothing of users who have read a long one', () => {
    const lists = new Lists();
    const before = heapAfterGc();
    for (let user = 0; user < 100_000; user++) lists.enter(`user ${user}` as User).left();
    // Ten megabytes, if each left an entry.
    expect(heapAfterGc() - before).to.be.below(2 ** 20);
    expect(lists.sent).to.equal(0);
  });
});
