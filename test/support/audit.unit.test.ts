import { expect } from 'chai';
import { type StoredEvent, audit } from './audit';
import type { Attempt, Operation } from './load';

const create = (id: number, name: string): Attempt => ({ kind: 'create', id, name });
const remove = (id: number, name: string): Attempt => ({ kind: 'delete', id, name });
const list: Attempt = { kind: 'list' };
const ok = { status: 200 };
const gone = { status: 204 };
const taken = { status: 400, error: 40003 };
const missing = { status: 404, error: 40401 };
const refused = { status: 503, error: 50300 };
const unknown = { status: 503, error: 50301 };
const shows = (...names: string[]) => ({ status: 200, names });

/** Someone asks at `asked` and is answered at `answered`. */
function told(
  asked: number,
  answered: number,
  attempt: Attempt,
  answer: Omit<Operation['answer'], 'took'>,
): Operation {
  return { user: 'alice', attempt, asked, answered, answer: { ...answer, took: answered - asked } };
}

/** `+7 Fern` creates, `-7` deletes. */
function stream(...events: string[]): StoredEvent[] {
  return events.map((text, index) => {
    const [id, name] = text.slice(1).split(' ') as [string, string?];
    const type = text.startsWith('+') ? 'PlantCreated' : 'PlantDeleted';
    return { entry: `${index + 1}-0`, type, id: Number(id), ...(name === undefined ? {} : { name }) };
  });
}

describe('the audit of what clients were told', () => {
  const fern = told(1, 2, create(7, 'Fern'), ok);

  describe('is content with', () => {
    const contentWith = (what: string, operations: Operation[], events: StoredEvent[]) =>
      it(what, () => expect(audit(operations, events)).to.deep.equal([]));

    contentWith(
      'a plain course of events',
      [
        fern,
        told(3, 4, list, shows('Fern')),
        told(5, 6, create(7, 'Moss'), taken),
        told(7, 8, remove(7, 'Fern'), gone),
        told(9, 10, remove(7, 'Fern'), missing),
        told(11, 12, list, shows()),
      ],
      stream('+7 Fern', '-7'),
    );
    contentWith(
      'an unknown outcome that happened',
      [told(1, 2, create(7, 'Fern'), unknown)],
      stream('+7 Fern'),
    );
    contentWith('one that did not', [told(1, 2, create(7, 'Fern'), unknown)], stream());
    contentWith(
      'one that happened long after it was told',
      [told(1, 2, create(7, 'Fern'), unknown), told(3, 4, list, shows()), told(5, 6, list, shows('Fern'))],
      stream('+7 Fern'),
    );
    contentWith(
      'a deletion that was asked for again, whichever of the two did it',
      [
        fern,
        told(3, 4, remove(7, 'Fern'), unknown),
        told(5, 6, list, shows()),
        told(7, 8, remove(7, 'Fern'), unknown),
      ],
      stream('+7 Fern', '-7'),
    );
    contentWith('a refusal that changed nothing', [told(1, 2, create(7, 'Fern'), refused)], stream());
    contentWith(
      'lists that race with a write, whatever they show',
      [told(1, 9, create(7, 'Fern'), ok), told(2, 4, list, shows()), told(5, 6, list, shows('Fern'))],
      stream('+7 Fern'),
    );
  });

  describe('complains of', () => {
    const complainsOf = (what: string, operations: Operation[], events: StoredEvent[], complaint: RegExp) =>
      it(what, () => {
        const complaints = audit(operations, events);
        expect(complaints).to.have.length(1);
        expect(complaints[0]).to.match(complaint);
      });

    complainsOf('an acknowledged creation that is lost', [fern], stream(), /^acknowledged and lost/);
    complainsOf(
      'an acknowledged deletion that is lost',
      [fern, told(3, 4, remove(7, 'Fern'), gone)],
      stream('+7 Fern'),
      /^acknowledged and lost/,
    );
    complainsOf(
      'a deletion that was acknowledged twice',
      [fern, told(3, 5, remove(7, 'Fern'), gone), told(4, 6, remove(7, 'Fern'), gone)],
      stream('+7 Fern', '-7'),
      /^acknowledged twice/,
    );
    complainsOf(
      'a creation that is recorded twice',
      [fern, told(3, 4, remove(7, 'Fern'), gone)],
      stream('+7 Fern', '-7', '+7 Fern'),
      /^event 3 creates Fern again/,
    );
    complainsOf(
      'an id that two living plants have',
      [told(1, 3, create(7, 'Fern'), ok), told(2, 4, create(7, 'Moss'), ok)],
      stream('+7 Fern', '+7 Moss'),
      /^event 2 creates 7, which is taken/,
    );
    complainsOf('a deletion of nothing', [], stream('-7'), /^event 1 deletes 7, which is free/);
    complainsOf(
      'the ghost of a refused creation',
      [told(1, 2, create(7, 'Fern'), refused)],
      stream('+7 Fern'),
      /^event 1: nobody may have created Fern/,
    );
    complainsOf(
      'the ghost of a refused deletion',
      [fern, told(3, 4, remove(7, 'Fern'), refused)],
      stream('+7 Fern', '-7'),
      /^event 2: nobody may have deleted Fern/,
    );
    complainsOf(
      'a creation that was rejected and happened',
      [fern, told(3, 4, remove(7, 'Fern'), gone), told(1, 9, create(7, 'Moss'), taken)],
      stream('+7 Fern', '-7', '+7 Moss'),
      /^event 3: nobody may have created Moss/,
    );
    complainsOf('an event out of nowhere', [], stream('+7 Fern'), /^event 1: nobody may have created Fern/);
    complainsOf(
      'an entry whose id is not its version',
      [fern],
      [{ ...stream('+7 Fern')[0]!, entry: '2-0' }],
      /^event 1 is stored as 2-0/,
    );
    complainsOf(
      'a stale list',
      [fern, told(3, 4, list, shows())],
      stream('+7 Fern'),
      /^not true at any of the versions 1 to 1/,
    );
    complainsOf(
      'a list older than one that somebody else was shown before',
      [told(1, 9, create(7, 'Fern'), ok), told(2, 4, list, shows('Fern')), told(5, 6, list, shows())],
      stream('+7 Fern'),
      /^not true at any of the versions 1 to 1/,
    );
    complainsOf(
      'a list that shows what nobody had asked for yet',
      [told(1, 2, list, shows('Fern')), told(3, 4, create(7, 'Fern'), ok)],
      stream('+7 Fern'),
      /^not true at any of the versions 0 to 0/,
    );
    complainsOf(
      'a list in another order',
      [fern, told(3, 4, create(8, 'Moss'), ok), told(5, 6, list, shows('Moss', 'Fern'))],
      stream('+7 Fern', '+8 Moss'),
      /^not true at any of the versions 2 to 2/,
    );
    complainsOf(
      'an id called taken that was free',
      [told(1, 2, create(7, 'Fern'), taken)],
      stream(),
      /^not true at any of the versions 0 to 0/,
    );
    complainsOf(
      'a plant called missing that was there',
      [fern, told(3, 4, remove(7, 'Fern'), missing)],
      stream('+7 Fern'),
      /^not true at any of the versions 1 to 1/,
    );
    complainsOf(
      'writes that are recorded in another order than they were acknowledged in',
      [fern, told(3, 4, create(8, 'Moss'), ok)],
      stream('+8 Moss', '+7 Fern'),
      /^is event 1, and 2 was known before/,
    );
    complainsOf(
      'any other answer',
      [told(1, 2, list, { status: 500, error: 50000 })],
      stream(),
      /^an answer/,
    );
  });
});
