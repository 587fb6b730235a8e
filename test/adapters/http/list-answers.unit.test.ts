import { expect } from 'chai';
import { ListAnswers, type ListState } from '../../../src/adapters/http/list-answers';
import { StoreUnavailable, type User } from '../../../src/application';
import { PlantList } from '../../../src/domain';
import { created } from '../../support/given';
import { rejection } from '../../support/rejection';

const [ADA, BOB] = ['ada', 'bob'] as User[] as [User, User];
const ALL = { limit: Infinity, after: 0 };
/** No client goes away, and the time is never up. */
const never = () => new AbortController().signal;

/** The list as a collection would hand it out. */
function listing(list: PlantList, query = ALL, commit = 'c'): ListState {
  const { stretches, next } = list.page(query.limit, query.after);
  return { stretches, next, head: { version: list.version, commit } };
}

describe('The answer to a list', () => {
  it('is the very one of before for as long as nothing is written', async () => {
    const [answers, list] = [new ListAnswers(), PlantList.from([created(1, 'Fern')])];
    const ask = async () => answers.answer(ADA, ALL, listing(list), undefined, never);
    const first = await ask();
    expect(await ask()).to.equal(first);

    list.evolve(created(2, 'Moss'));
    const second = await ask();
    expect(String(second.body)).to.equal('[{"name":"Fern"},{"name":"Moss"}]');
    expect(await ask()).to.equal(second);
  });

  it('is another one for another user, another page, and another history of the same length', async () => {
    const [answers, list] = [new ListAnswers(), PlantList.from([created(1, 'Fern'), created(2, 'Moss')])];
    const other = PlantList.from([created(1, 'Aloe'), created(2, 'Palm')]);
    const bodies = [];
    for (const query of [ALL, { limit: 1, after: 0 }, { limit: 1, after: 1 }]) {
      bodies.push(String((await answers.answer(ADA, query, listing(list, query), undefined, never)).body));
      bodies.push(String((await answers.answer(BOB, query, listing(other, query), undefined, never)).body));
    }
    bodies.push(String((await answers.answer(ADA, ALL, listing(other, ALL, 'd'), undefined, never)).body));

    expect(bodies).to.deep.equal([
      '[{"name":"Fern"},{"name":"Moss"}]',
      '[{"name":"Aloe"},{"name":"Palm"}]',
      '[{"name":"Fern"}]',
      '[{"name":"Aloe"}]',
      '[{"name":"Moss"}]',
      '[{"name":"Palm"}]',
      '[{"name":"Aloe"},{"name":"Palm"}]',
    ]);
  });

  it('has an entity tag of its own for each commit, which every header may bear', async () => {
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
    const tags = new Set<string>();
    for (const commit of commits) {
      const ask = async (ifNoneMatch?: string) =>
        new ListAnswers().answer(ADA, ALL, listing(list, ALL, commit), ifNoneMatch, never);
      const tag = (await ask()).headers['ETag']!;
      expect(tag).to.match(/^"1-[!#-~]{1,128}"$/);
      expect((await ask(tag)).status).to.equal(304);
      tags.add(tag);
    }
    expect(tags).to.have.property('size', commits.length);
    expect(tags).to.include('"1-c"');
  });

  it('is made once for all who ask while a long one is being made', async () => {
    const list = PlantList.from(Array.from({ length: 10_000 }, (_, id) => created(id, `Fern ${id}`)));
    const answers = new ListAnswers();
    const ask = async () => answers.answer(ADA, ALL, listing(list), undefined, never);
    const [first, second] = await Promise.all([ask(), ask()]);
    expect(first.body).to.be.instanceOf(Buffer).and.to.equal(second.body);
    expect((await ask()).body).to.equal(first.body);
  });

  describe('within its bound', () => {
    /** Enough for three of those below, each with what it costs beside its text. */
    const THREE = 3300;
    const list = () => PlantList.from([created(1, 'Fern')]);
    const asking =
      (answers: ListAnswers) =>
      async (user: string, of = list()) =>
        answers.answer(user as User, ALL, listing(of), undefined, never);

    it('is forgotten when there are too many of them, the first one first, and no more than need be', async () => {
      const ask = asking(new ListAnswers(THREE));
      const made = [];
      for (const user of ['1', '2', '3', '4', '5']) made.push(await ask(user));
      const [first, second, ...kept] = made;
      for (const [i, answer] of kept.entries()) expect(await ask(`${i + 3}`)).to.equal(answer);
      expect(await ask('1')).not.to.equal(first);
      expect(await ask('2')).not.to.equal(second);
    });

    it('makes room for its next: however often one user writes, the answers of others stay', async () => {
      const ask = asking(new ListAnswers(THREE));
      const bobs = await ask('bob');
      const [short, long] = [list(), list()];
      for (let i = 0; i < 2000; i++) long.evolve(created(i + 2, ''));
      for (let i = 0; i < 10; i++) {
        short.evolve(created(i + 2, ''));
        await ask('ada', short);
      }
      expect(await ask('bob'), 'behind ten answers to Ada').to.equal(bobs);
      await ask('ada', long);
      expect(await ask('bob'), 'behind one that is long').not.to.equal(bobs);
    });

    for (const length of [30_000, 100_000]) {
      it(`is kept while it is the newest, however long it is (${length})`, async () => {
        const ask = asking(new ListAnswers(THREE));
        const long = PlantList.from([created(1, 'x'.repeat(length))]);
        const first = await ask('ada', long);
        expect(await ask('ada', long)).to.equal(first);
        await ask('bob');
        expect(await ask('ada', long)).not.to.equal(first);
      });
    }
  });

  it('is the same for every limit at or beyond the end, and another one for a limit before it', async () => {
    const list = PlantList.from([created(1, 'Fern'), created(2, 'Moss')]);
    const answers = new ListAnswers();
    const ask = async (limit: number) => {
      const query = { limit, after: 0 };
      return answers.answer(ADA, query, listing(list, query), undefined, never);
    };
    const all = await ask(Infinity);
    for (const limit of [2, 3, 1e9]) expect(await ask(limit)).to.equal(all);
    expect(all.headers).not.to.have.property('Link');
    const cut = await ask(1);
    expect([String(cut.body), cut.headers['ETag']]).to.deep.equal(['[{"name":"Fern"}]', all.headers['ETag']]);
    expect(cut.headers['Link']).to.match(/^<.plants\?limit=1&cursor=/);
  });

  it('ends with the reason of its abandonment where it is long', async () => {
    const list = PlantList.from(Array.from({ length: 10_000 }, (_, id) => created(id, `Fern ${id}`)));
    const answers = new ListAnswers();
    const late = new StoreUnavailable('late');
    const answer = answers.answer(ADA, ALL, listing(list), undefined, () => AbortSignal.abort(late));
    expect(await rejection(answer as Promise<unknown>)).to.equal(late);
  });

  it('is refused where a user asks too many different questions that may be long, whatever others do', () => {
    const answers = new ListAnswers();
    const admit = (user: User, limit: number, after = 0) => answers.admit(user, { limit, after });
    const ends = Array.from({ length: 32 }, (_, i) => admit(ADA, 10_000 + i));
    expect(() => admit(ADA, Infinity)).to.throw(StoreUnavailable);
    expect(() => admit(ADA, 10_000, 1)).to.throw(StoreUnavailable);
    // One that is asked already, a short one, and one of another user.
    ends.push(admit(ADA, 10_000), admit(BOB, Infinity));
    expect(admit(ADA, 100)).to.equal(undefined);
    ends[0]!();
    expect(() => admit(ADA, Infinity)).to.throw(StoreUnavailable);
    ends[32]!();
    admit(ADA, Infinity)!();
    ends[1]!();
    admit(ADA, 9999)!();
  });

  it('says 304, and makes nothing, where the caller has it', async () => {
    const [answers, list] = [new ListAnswers(), PlantList.from([created(1, 'Fern')])];
    const { headers } = await answers.answer(ADA, ALL, listing(list), undefined, never);
    const answer = await answers.answer(ADA, ALL, listing(list), `W/"x", ${headers['ETag']}`, never);
    expect([answer.status, answer.body, answer.headers['ETag']]).to.deep.equal([
      304,
      undefined,
      headers['ETag'],
    ]);
  });
});
