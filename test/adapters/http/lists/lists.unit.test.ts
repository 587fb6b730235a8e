import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { type ListPage, Lists } from '../../../../src/adapters/http/lists/lists';
import { canonical, parseQuery } from '../../../../src/adapters/http/lists/list-query';
import { Selection, type User, WHOLE_LIST } from '../../../../src/application';
import { PlantList } from '../../../../src/domain';
import { created } from '../../../support/given';
import { QUERIES, SELECTED_FROM, SELECTIONS } from '../../../support/list-queries';

const [ADA, BOB] = ['ada', 'bob'] as User[] as [User, User];
const ALL = WHOLE_LIST;
/** Bytes of responses that are being sent. */
const SENT = 64 * 2 ** 20;
/** What `Lists` uses of a response. */
class FakeResponse extends EventEmitter {
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

function responseOf(fake = new FakeResponse()): ServerResponse {
  return fake as unknown as ServerResponse;
}

function newLists(maxKept?: number): Lists {
  return new Lists(SENT, maxKept);
}

/** The page that a query selects from a list. */
function pageOf(
  lists: Lists,
  user: User,
  list: PlantList,
  query = ALL,
  commit = 'c',
  response = responseOf(),
): ListPage {
  const selection = new Selection(list, query, { version: list.version, commit });
  return lists.page(user, selection, response, () => false);
}

/** The text of that page. It is short. */
function textOf(lists: Lists, user: User, list: PlantList, query = ALL, commit = 'c'): Buffer {
  return pageOf(lists, user, list, query, commit).text!;
}

describe('The text of a list', () => {
  it('is the same Buffer while nothing is written', () => {
    const [lists, list] = [newLists(), PlantList.from([created(1, 'Fern')])];
    const first = textOf(lists, ADA, list);
    expect(textOf(lists, ADA, list)).to.equal(first);

    list.evolve(created(2, 'Moss'));
    const second = textOf(lists, ADA, list);
    expect(String(second)).to.equal('[{"name":"Fern"},{"name":"Moss"}]');
    expect(textOf(lists, ADA, list)).to.equal(second);
  });

  it('is not a slice of a larger Buffer, which a cached text would keep as a whole', () => {
    const text = textOf(newLists(), ADA, PlantList.from([created(1, 'Fern')]));
    expect(text.buffer.byteLength).to.equal(text.length);
  });

  it('differs for another user, another page, and another history of the same length', () => {
    const [lists, list] = [newLists(), PlantList.from([created(1, 'Fern'), created(2, 'Moss')])];
    const other = PlantList.from([created(1, 'Aloe'), created(2, 'Palm')]);
    const texts = [];
    for (const query of [ALL, { ...ALL, limit: 1 }, { ...ALL, limit: 1, after: 1 }]) {
      texts.push(String(textOf(lists, ADA, list, query)));
      texts.push(String(textOf(lists, BOB, other, query)));
    }
    texts.push(String(textOf(lists, ADA, other, ALL, 'd')));

    expect(texts).to.deep.equal([
      '[{"name":"Fern"},{"name":"Moss"}]',
      '[{"name":"Aloe"},{"name":"Palm"}]',
      '[{"name":"Fern"}]',
      '[{"name":"Aloe"}]',
      '[{"name":"Moss"}]',
      '[{"name":"Palm"}]',
      '[{"name":"Aloe"},{"name":"Palm"}]',
    ]);
  });

  for (const [member, { selects }] of Object.entries(SELECTIONS))
    for (const [value, names] of selects) {
      it(`has only the plants that the query selects by ${member}: ${inspect(value)}`, () => {
        const [lists, list] = [newLists(), SELECTED_FROM()];
        textOf(lists, ADA, list);
        const text = String(textOf(lists, ADA, list, { ...ALL, [member]: value }));
        expect((JSON.parse(text) as { name: string }[]).map(({ name }) => name)).to.deep.equal(names);
      });
    }

  it('is tested with an empty text, and with one that a URL escapes, for each member of a query that is a text', () => {
    for (const [member, { selects }] of Object.entries(SELECTIONS)) {
      const texts = selects.map(([value]): unknown => value).filter((value) => typeof value === 'string');
      if (texts.length === 0) continue;
      expect(texts, member).to.include('');
      expect(
        texts.some((text) => encodeURIComponent(text) !== text),
        member,
      ).to.equal(true);
    }
  });

  it('has the same plants page by page as whole, with links until the last one', () => {
    for (const query of QUERIES.filter(({ limit }) => limit > 0)) {
      const list = SELECTED_FROM();
      const whole = JSON.parse(
        String(textOf(newLists(), ADA, list, { ...query, limit: Infinity })),
      ) as object[];
      const met: object[] = [];
      let next: string | undefined = canonical({ ...query, limit: 1 });
      for (; next !== undefined; next = pageOf(newLists(), ADA, list, parseQuery(next)).next) {
        const page = JSON.parse(String(textOf(newLists(), ADA, list, parseQuery(next)))) as object[];
        expect(page.length).to.be.at.most(1);
        met.push(...page);
      }
      expect(met, canonical(query)).to.deep.equal(whole);
    }
  });

  it('has a different entity tag for each commit, valid in a header', () => {
    const list = PlantList.from([created(1, 'Fern')]);
    const commits = [
      'c',
      'C',
      '☃',
      '⛄',
      'a b',
      'a"b',
      'é',
      '\n',
      '\x7f',
      '\ud800',
      '\udbff',
      'x'.repeat(129),
      'x'.repeat(130),
    ];
    const tags = new Set(commits.map((commit) => pageOf(newLists(), ADA, list, ALL, commit).etag));
    for (const tag of tags) expect(tag).to.match(/^"1-[!#-~]{1,128}"$/);
    expect(tags).to.have.property('size', commits.length);
    expect(tags).to.include('"1-c"');
  });

  it('is rendered once for all requests of a round', () => {
    const [lists, list] = [newLists(), PlantList.from([created(1, 'Fern')])];
    expect(pageOf(lists, ADA, list)).to.equal(pageOf(lists, ADA, list));
  });

  describe('within its bound', () => {
    /** Enough for three of the texts below, each with its overhead. */
    const THREE = 3300;
    const list = () => PlantList.from([created(1, 'Fern')]);
    const asking =
      (lists: Lists) =>
      (user: string, of = list()) =>
        textOf(lists, user as User, of);

    it('is dropped when there are too many, the oldest first, and not more than necessary', () => {
      const ask = asking(newLists(THREE));
      const made = [];
      for (const user of ['1', '2', '3', '4', '5']) made.push(ask(user));
      const [first, second, ...kept] = made;
      for (const [i, text] of kept.entries()) expect(ask(`${i + 3}`)).to.equal(text);
      expect(ask('1')).not.to.equal(first);
      expect(ask('2')).not.to.equal(second);
    });

    it('replaces the earlier text of its page, so that writes of one user do not evict the texts of others', () => {
      const ask = asking(newLists(THREE));
      const bobs = ask('bob');
      const [short, long] = [list(), list()];
      for (let i = 0; i < 2000; i++) long.evolve(created(i + 2, ''));
      for (let i = 0; i < 10; i++) {
        short.evolve(created(i + 2, ''));
        ask('ada', short);
      }
      expect(ask('bob'), 'after ten texts for Ada').to.equal(bobs);
      ask('ada', long);
      expect(ask('bob'), 'after a long one').not.to.equal(bobs);
    });

    for (const length of [3300, 30_000]) {
      it(`is cached while it is the newest, however long it is (${length})`, () => {
        const ask = asking(newLists(THREE));
        const long = PlantList.from([created(1, 'x'.repeat(length))]);
        const first = ask('ada', long);
        expect(ask('ada', long)).to.equal(first);
        ask('bob');
        expect(ask('ada', long)).not.to.equal(first);
      });
    }

    it('is counted in bytes, together with its page', () => {
      const [lists, list] = [newLists(), PlantList.from([created(1, 'Fern')])];
      const text = textOf(lists, ADA, list);
      // The key of the page is ` ada`. The text is in the page and in its segment.
      expect(lists.bytes).to.equal(1024 + 4 + text.length + 2 * (text.length - 2));
    });
  });

  it('is counted with the key of its page and the query of the next page', () => {
    const list = PlantList.from([created(1, 'Fern'), created(2, 'Moss')]);
    const bytesFor = (query: typeof ALL, user = ADA) => {
      const lists = newLists();
      pageOf(lists, user, list, query);
      return lists.bytes;
    };
    const longer = `${ADA}${'a'.repeat(200)}` as User;
    expect(bytesFor(ALL, longer) - bytesFor(ALL)).to.equal(200);
    const [key, next] = ['limit=1', 'limit=1&cursor=djEuMQ'];
    // The text of the whole segment is cached, too.
    const [one, two] = ['[{"name":"Fern"}]', '[{"name":"Fern"},{"name":"Moss"}]'];
    expect(bytesFor({ ...ALL, limit: 1 }) - bytesFor(ALL)).to.equal(
      key.length + next.length + one.length - (two.length + 2 * (two.length - 2)),
    );
  });

  it('is the same for every limit at or beyond the end, and differs for a limit before it', () => {
    const list = PlantList.from([created(1, 'Fern'), created(2, 'Moss')]);
    const lists = newLists();
    const all = pageOf(lists, ADA, list);
    for (const limit of [2, 3, 1e9]) expect(pageOf(lists, ADA, list, { ...ALL, limit })).to.equal(all);
    expect(all.next).to.equal(undefined);
    const cut = pageOf(lists, ADA, list, { ...ALL, limit: 1 });
    expect([String(cut.text), cut.etag]).to.deep.equal(['[{"name":"Fern"}]', all.etag]);
    expect(cut.next).to.equal('limit=1&cursor=djEuMQ');
  });

  for (const length of [12, 12_000])
    it(`holds no list in memory if the client knows the entity tag (of ${length} plants)`, () => {
      const list = PlantList.from(Array.from({ length }, (_, id) => created(id, `Fern ${id}`)));
      const lists = newLists();
      const tags: string[] = [];
      const isKnown = (etag: string) => tags.push(etag) > 0;
      const selection = new Selection(list, ALL, { version: list.version, commit: 'c' });
      const page = lists.page(ADA, selection, responseOf(), isKnown);
      expect(tags).to.deep.equal([page.etag]);
      expect([page.reader, page.text, lists.bytes, lists.sent.bytes]).to.deep.equal([
        undefined,
        undefined,
        0,
        0,
      ]);
    });

  it('is one that its readers share if it is long, with its entity tag and the query of the next page', async () => {
    const list = PlantList.from(Array.from({ length: 12_000 }, (_, id) => created(id, `Fern ${id}`)));
    const lists = newLists();
    const query = { ...ALL, limit: 11_000 };
    const first = pageOf(lists, ADA, list, query);
    const before = lists.sent.bytes;
    const second = pageOf(lists, ADA, list, query);
    // Memory of the response alone.
    expect(lists.sent).to.include({ responses: 2, bytes: before + 16 * 1024 });
    const selection = new Selection(list, query, { version: list.version, commit: 'c' });
    const known = lists.page(ADA, selection, responseOf(), () => true);
    expect([first.text, second.text, known.text, known.reader]).to.deep.equal(Array(4).fill(undefined));
    const { etag, next } = pageOf(newLists(), ADA, list, { ...ALL, limit: 1 });
    const due = { etag, next: next!.replace('limit=1&cursor=djEuMQ', 'limit=11000&cursor=djEuMTEwMDA') };
    for (const page of [first, second, known]) expect(page).to.include(due);

    const length = await first.reader!.length(60_000);
    expect(lists.bytes).to.be.at.least(length);
  });

  it('is counted while it is being sent, if it is longer than 64 KiB, and its connection is reset beyond the bound', () => {
    const lists = new Lists(300_000);
    const [oldest, newest] = [new FakeResponse(), new FakeResponse()];
    const text = Buffer.alloc(200_000);
    lists.count(ADA, Buffer.alloc(1000), responseOf());
    expect(lists.sent.responses).to.equal(0);
    lists.count(ADA, text, responseOf(oldest));
    expect([lists.sent.responses, lists.sent.bytes]).to.deep.equal([1, 200_000]);
    lists.count(ADA, text, responseOf(newest));
    expect([oldest.destroyed, newest.destroyed, lists.sent.responses]).to.deep.equal([true, false, 1]);
    newest.emit('close');
    expect([lists.sent.responses, lists.sent.bytes]).to.deep.equal([0, 0]);
  });
});
