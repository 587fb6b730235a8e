import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { ListRenderer, type Rendering } from '../../../src/adapters/http/list-renderer';
import type { ListText } from '../../../src/adapters/http/list-text';
import { type User } from '../../../src/application';
import { StoreUnavailable } from '../../../src/event-sourcing';
import { rejection } from '../../support/rejection';
import { until } from '../../support/until';

const LATE = new StoreUnavailable('late');
const GONE = new Error('gone');
const never = () => new AbortController().signal;

describe('The renderer of long lists', () => {
  let renderer: ListRenderer;
  /** The names of the advanced texts, in order. */
  let order: string[];
  let ended: string[];

  beforeEach(() => {
    renderer = new ListRenderer();
    [order, ended] = [[], []];
  });

  /** A fake text of some pieces, each of `bytes`. */
  function textOf(name: string, pieces: number, bytes = 10, size = 200): ListText {
    let made = 0;
    const text = {
      name,
      size,
      get bytes() {
        return made * bytes;
      },
      advance() {
        order.push(name);
        if (name === 'broken') throw new Error('broken');
        return ++made === pieces ? Buffer.from(name) : undefined;
      },
    };
    return text as unknown as ListText;
  }
  /** The text for a reader that reads from the beginning. */
  function render(
    user: string,
    name: string,
    pieces: number,
    { signal = never(), bytes = 10, size = 200 } = {},
  ) {
    return begin(user, textOf(name, pieces, bytes, size))
      .read(signal)
      .then(String);
  }
  function begin(user: string, text: ListText): Rendering {
    const { name } = text as unknown as { name: string };
    return renderer.render(user as User, text, (whole) =>
      ended.push(`${name} ${whole ? 'made' : 'cancelled'}`),
    );
  }

  it('lets users take turns, piece by piece, and renders one text of each user at a time', async () => {
    const texts = [
      render('ada', 'a1', 3),
      render('ada', 'a2', 2),
      render('bob', 'b', 2),
      render('cy', 'c', 1),
    ];
    expect(renderer.waiting).to.equal(4);
    expect(await Promise.all(texts)).to.deep.equal(['a1', 'a2', 'b', 'c']);
    expect(order).to.deep.equal(['a1', 'b', 'c', 'a1', 'b', 'a1', 'a2', 'a2']);
    expect([renderer.waiting, renderer.bytes]).to.deep.equal([0, 0]);
  });

  it('gives all readers of a text the same bytes', async () => {
    const rendering = begin('ada', textOf('a', 3));
    const [one, two] = await Promise.all([rendering.read(never()), rendering.read(never())]);
    expect(one).to.equal(two);
  });

  it('cancels a text when its last reader has disconnected, and frees its memory', async () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const rendering = begin('ada', textOf('a', 1000));
    const reads = [rendering.read(one.signal), rendering.read(two.signal)].map(rejection);
    one.abort(GONE);
    expect(ended).to.deep.equal([]);
    two.abort(GONE);
    expect(ended).to.deep.equal(['a cancelled']);
    expect([renderer.waiting, renderer.bytes]).to.deep.equal([0, 0]);
    expect(await Promise.all(reads)).to.deep.equal([GONE, GONE]);
  });

  it('cancels a text whose reader had disconnected before', async () => {
    expect(await rejection(render('ada', 'a', 1000, { signal: AbortSignal.abort(GONE) }))).to.equal(GONE);
    expect(ended).to.deep.equal(['a cancelled']);
  });

  it('continues a text whose readers timed out, until its user requests another one', async () => {
    const time = new AbortController();
    const reads = ['a1', 'a2'].map((name) => rejection(render('ada', name, 1e6, { signal: time.signal })));
    await until(() => order.length > 3);
    time.abort(LATE);
    expect(await Promise.all(reads)).to.deep.equal([LATE, LATE]);
    expect(ended).to.deep.equal(['a2 cancelled']);
    const before = order.length;
    await until(() => order.length > before);

    expect(await render('ada', 'a3', 2)).to.equal('a3');
    expect(ended).to.deep.equal(['a2 cancelled', 'a1 cancelled', 'a3 made']);
  });

  it('refuses more than 32 texts of one user, and none of another', async () => {
    const texts = Array.from({ length: 32 }, (_, i) => render('ada', String(i), 1));
    expect(() => render('ada', 'a', 1)).to.throw(StoreUnavailable);
    texts.push(render('bob', 'b', 1));
    await Promise.all(texts);
    expect(await render('ada', 'a', 1)).to.equal('a');
  });

  it('refuses lists of too many ranges together, but not a single one', async () => {
    const first = render('ada', 'a', 1, { size: 2 ** 20 });
    expect(() => render('bob', 'b', 1)).to.throw(StoreUnavailable);
    expect(await first).to.equal('a');
    expect(await render('bob', 'b', 1)).to.equal('b');
  });

  it('counts the ranges of a list only until its text is made', async () => {
    await render('ada', 'a', 1, { size: 2 ** 20 });
    const texts = [render('bob', 'b', 1), render('cy', 'c', 1)];
    expect(await Promise.all(texts)).to.deep.equal(['b', 'c']);
  });

  it('finishes one text before it continues others if they take too much memory, and refuses further ones', async () => {
    const bytes = 33 * 2 ** 20;
    const texts = [render('ada', 'a', 4, { bytes }), render('bob', 'b', 3, { bytes }), render('cy', 'c', 2)];
    while (renderer.bytes <= 64 * 2 ** 20) await turn();
    expect(() => render('dan', 'd', 1)).to.throw(StoreUnavailable);
    await Promise.all(texts);
    // One piece of b exceeds the bound, so b is finished; c and a take turns until a piece of a exceeds it again.
    expect(order.join('')).to.equal('abbbcaaac');
  });

  it('continues after a text that failed', async () => {
    const broken = rejection(render('ada', 'broken', 3));
    const next = render('ada', 'next', 3);
    expect(((await broken) as Error).message).to.equal('broken');
    expect(await next).to.equal('next');
    expect(ended).to.deep.equal(['broken cancelled', 'next made']);
    expect([renderer.waiting, renderer.bytes]).to.deep.equal([0, 0]);
  });
});
