import { expect } from 'chai';
import { type ListPage, Lists } from '../../../src/adapters/http/lists';
import type { PageQuery } from '../../../src/adapters/http/list-query';
import { type User, WHOLE_LIST } from '../../../src/application';
import { StoreUnavailable } from '../../../src/event-sourcing';
import { PlantList } from '../../../src/domain';
import { created } from '../../support/given';
import { rejection } from '../../support/rejection';

const [ADA, BOB] = ['ada', 'bob'] as User[] as [User, User];
const ALL = WHOLE_LIST;
/** A signal that never aborts: no client disconnects, and no request times out. */
const never = () => new AbortController().signal;

/** The page of a list, as the view of an aggregate returns it. */
function pageOf(lists: Lists, user: User, list: PlantList, query = ALL, commit = 'c'): ListPage {
  return lists.page(user, query, () => false)(list, { version: list.version, commit });
}

/** The text of that page. */
function textOf(lists: Lists, user: User, list: PlantList, query = ALL, commit = 'c'): Promise<Buffer> {
  return lists.text(pageOf(lists, user, list, query, commit), never);
}

describe('The text of a list', () => {
  it('is the same Buffer while nothing is written', async () => {
    const [lists, list] = [new Lists(), PlantList.from([created(1, 'Fern')])];
    const first = await textOf(lists, ADA, list);
    expect(await textOf(lists, ADA, list)).to.equal(first);

    list.evolve(created(2, 'Moss'));
    const second = await textOf(lists, ADA, list);
    expect(String(second)).to.equal('[{"name":"Fern"},{"name":"Moss"}]');
    expect(await textOf(lists, ADA, list)).to.equal(second);
  });

  it('is not a slice of a larger Buffer, which a cached text would keep as a whole', async () => {
    const text = await textOf(new Lists(), ADA, PlantList.from([created(1, 'Fern')]));
    expect(text.buffer.byteLength).to.equal(text.length);
  });

  it('differs for another user, another page, and another history of the same length', async () => {
    const [lists, list] = [new Lists(), PlantList.from([created(1, 'Fern'), created(2, 'Moss')])];
    const other = PlantList.from([created(1, 'Aloe'), created(2, 'Palm')]);
    const texts = [];
    for (const query of [ALL, { ...ALL, limit: 1 }, { ...ALL, limit: 1, after: 1 }]) {
      texts.push(String(await textOf(lists, ADA, list, query)));
      texts.push(String(await textOf(lists, BOB, other, query)));
    }
    texts.push(String(await textOf(lists, ADA, other, ALL, 'd')));

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

  /** For each member, a query that differs from {@link ALL} in it, and the names that it selects. */
  const SELECTED: Readonly<Record<keyof PageQuery, readonly [query: PageQuery, names: readonly string[]]>> = {
    limit: [{ ...ALL, limit: 1 }, ['Fern']],
    after: [{ ...ALL, after: 1 }, ['Moss']],
  };
  for (const [member, [query, names]] of Object.entries(SELECTED)) {
    it(`has only the plants that the query selects by ${member}`, async () => {
      const [lists, list] = [new Lists(), PlantList.from([created(1, 'Fern'), created(2, 'Moss')])];
      await textOf(lists, ADA, list);
      const text = String(await textOf(lists, ADA, list, query));
      expect((JSON.parse(text) as { name: string }[]).map(({ name }) => name)).to.deep.equal(names);
    });
  }

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
    const tags = new Set(commits.map((commit) => pageOf(new Lists(), ADA, list, ALL, commit).etag));
    for (const tag of tags) expect(tag).to.match(/^"1-[!#-~]{1,128}"$/);
    expect(tags).to.have.property('size', commits.length);
    expect(tags).to.include('"1-c"');
  });

  it('is rendered once for all requests that arrive while it is being rendered', async () => {
    const list = PlantList.from(Array.from({ length: 10_000 }, (_, id) => created(id, `Fern ${id}`)));
    const lists = new Lists();
    const [first, second] = await Promise.all([textOf(lists, ADA, list), textOf(lists, ADA, list)]);
    expect(first).to.equal(second);
    expect(await textOf(lists, ADA, list)).to.equal(first);
  });

  it('does not replace the text of a newer head that was requested meanwhile', async () => {
    const list = PlantList.from(Array.from({ length: 10_000 }, (_, id) => created(id, `Fern ${id}`)));
    const lists = new Lists();
    const older = textOf(lists, ADA, list);
    list.evolve(created(10_000, 'Moss'));
    const newer = await textOf(lists, ADA, list);
    expect(String(await older)).not.to.contain('Moss');
    expect(await textOf(lists, ADA, list)).to.equal(newer);
  });

  it('is rendered once for all requests of a round', () => {
    const [lists, list] = [new Lists(), PlantList.from([created(1, 'Fern')])];
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

    it('is dropped when there are too many, the oldest first, and not more than necessary', async () => {
      const ask = asking(new Lists(THREE));
      const made = [];
      for (const user of ['1', '2', '3', '4', '5']) made.push(await ask(user));
      const [first, second, ...kept] = made;
      for (const [i, text] of kept.entries()) expect(await ask(`${i + 3}`)).to.equal(text);
      expect(await ask('1')).not.to.equal(first);
      expect(await ask('2')).not.to.equal(second);
    });

    it('replaces the earlier text of its page, so that writes of one user do not evict the texts of others', async () => {
      const ask = asking(new Lists(THREE));
      const bobs = await ask('bob');
      const [short, long] = [list(), list()];
      for (let i = 0; i < 2000; i++) long.evolve(created(i + 2, ''));
      for (let i = 0; i < 10; i++) {
        short.evolve(created(i + 2, ''));
        await ask('ada', short);
      }
      expect(await ask('bob'), 'after ten texts for Ada').to.equal(bobs);
      await ask('ada', long);
      expect(await ask('bob'), 'after a long one').not.to.equal(bobs);
    });

    for (const length of [30_000, 100_000]) {
      it(`is cached while it is the newest, however long it is (${length})`, async () => {
        const ask = asking(new Lists(THREE));
        const long = PlantList.from([created(1, 'x'.repeat(length))]);
        const first = await ask('ada', long);
        expect(await ask('ada', long)).to.equal(first);
        await ask('bob');
        expect(await ask('ada', long)).not.to.equal(first);
      });
    }

    it('is counted in bytes, together with its page', async () => {
      const [lists, list] = [new Lists(), PlantList.from([created(1, 'Fern')])];
      const page = pageOf(lists, ADA, list);
      const before = lists.bytes;
      expect(before).to.be.above(1000);
      const text = await lists.text(page, never);
      // One range less, and the text in the page and in its segment.
      expect(lists.bytes).to.equal(before - 64 + text.length + 2 * (text.length - 2));
    });
  });

  it('is counted with the key of its page and the query of the next page', () => {
    const list = PlantList.from([created(1, 'Fern'), created(2, 'Moss')]);
    const bytesFor = (query: PageQuery, user = ADA) => {
      const lists = new Lists();
      pageOf(lists, user, list, query);
      return lists.bytes;
    };
    const longer = `${ADA}${'a'.repeat(200)}` as User;
    expect(bytesFor(ALL, longer) - bytesFor(ALL)).to.equal(200);
    const [key, next] = ['limit=1', 'limit=1&cursor=djEuMQ'];
    expect(bytesFor({ ...ALL, limit: 1 }) - bytesFor(ALL)).to.equal(key.length + next.length);
  });

  it('is the same for every limit at or beyond the end, and differs for a limit before it', async () => {
    const list = PlantList.from([created(1, 'Fern'), created(2, 'Moss')]);
    const lists = new Lists();
    const all = pageOf(lists, ADA, list);
    for (const limit of [2, 3, 1e9]) expect(pageOf(lists, ADA, list, { ...ALL, limit })).to.equal(all);
    expect(all.next).to.equal(undefined);
    const cut = pageOf(lists, ADA, list, { ...ALL, limit: 1 });
    expect([String(await lists.text(cut, never)), cut.etag]).to.deep.equal(['[{"name":"Fern"}]', all.etag]);
    expect(cut.next).to.equal('limit=1&cursor=djEuMQ');
  });

  describe('holds no list in memory', () => {
    const list = PlantList.from(Array.from({ length: 12_000 }, (_, id) => created(id, `Fern ${id}`)));

    it('if the client knows the entity tag', () => {
      const lists = new Lists();
      const tags: string[] = [];
      const isKnown = (etag: string) => tags.push(etag) > 0;
      const page = lists.page(ADA, ALL, isKnown)(list, { version: list.version, commit: 'c' });
      expect(tags).to.deep.equal([page.etag]);
      expect(lists.bytes).to.equal(0);
    });

    it('after its only reader has left', async () => {
      const lists = new Lists();
      const left = new Error('the client has disconnected');
      const text = lists.text(pageOf(lists, ADA, list), () => AbortSignal.abort(left));
      expect(await rejection(text)).to.equal(left);
      expect(lists.bytes).to.equal(0);
    });

    it('if it is refused', async () => {
      const lists = new Lists();
      const long = (limit: number) => textOf(lists, ADA, list, { ...ALL, limit });
      const accepted = Array.from({ length: 32 }, (_, index) => long(9000 + index));
      const before = lists.bytes;
      expect(await rejection(long(9900))).to.be.instanceOf(StoreUnavailable);
      expect(lists.bytes).to.be.at.most(before);
      await Promise.all(accepted);
    });
  });

  it('rejects with the reason of its abandonment if it is long', async () => {
    const list = PlantList.from(Array.from({ length: 10_000 }, (_, id) => created(id, `Fern ${id}`)));
    const lists = new Lists();
    const late = new StoreUnavailable('late');
    const text = lists.text(pageOf(lists, ADA, list), () => AbortSignal.abort(late));
    expect(await rejection(text)).to.equal(late);
  });

  it('is refused if its user requests too many different ones that may be long, regardless of other users', () => {
    const lists = new Lists();
    const admit = (user: User, limit: number, after = 0) => lists.admit(user, { ...ALL, limit, after });
    const ends = Array.from({ length: 32 }, (_, i) => admit(ADA, 10_000 + i));
    expect(() => admit(ADA, Infinity)).to.throw(StoreUnavailable);
    expect(() => admit(ADA, 10_000, 1)).to.throw(StoreUnavailable);
    // Accepted: one that is already requested, a short one, and one of another user.
    ends.push(admit(ADA, 10_000), admit(BOB, Infinity));
    expect(admit(ADA, 100)).to.equal(undefined);
    ends[0]!();
    expect(() => admit(ADA, Infinity)).to.throw(StoreUnavailable);
    ends[32]!();
    admit(ADA, Infinity)!();
    ends[1]!();
    admit(ADA, 9999)!();
  });
});
