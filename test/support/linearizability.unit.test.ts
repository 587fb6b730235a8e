import { expect } from 'chai';
import fc from 'fast-check';
import {
  type Operation,
  type PlantRequest,
  type StreamEvent,
  WRITES,
  linearizationProblem,
} from './linearizability';

const create = (id: number, name: string): PlantRequest => ({ type: 'create', id, name });
const remove = (id: number): PlantRequest => ({ type: 'delete', id });
const list: PlantRequest = { type: 'list' };

function operation(
  asked: number,
  answered: number,
  request: PlantRequest,
  answer: Operation['answer'],
): Operation {
  return { asked, answered, request, answer };
}

/** `+7 Fern` creates, `-7` deletes. */
function stream(...events: string[]): StreamEvent[] {
  return events.map((text) => {
    const [id, name] = text.slice(1).split(' ') as [string, string?];
    return name === undefined ? { type: 'PlantDeleted', id } : { type: 'PlantCreated', id, name };
  });
}

describe('The linearizability oracle', () => {
  const fern = operation(1, 2, create(7, 'Fern'), 'created');
  const unknownFern = operation(1, 2, create(7, 'Fern'), 'unknown');

  const accepted: Record<string, [Operation[], StreamEvent[]]> = {
    'no request and no event': [[], []],
    'requests one after the other': [
      [
        fern,
        operation(3, 4, list, ['Fern']),
        operation(5, 6, create(7, 'Moss'), 'id-taken'),
        operation(7, 8, remove(7), 'deleted'),
        operation(9, 10, remove(7), 'no-such-plant'),
        operation(11, 12, list, []),
      ],
      stream('+7 Fern', '-7'),
    ],
    'concurrent lists on either side of a write': [
      [
        operation(1, 9, create(7, 'Fern'), 'created'),
        operation(2, 4, list, []),
        operation(3, 8, list, []),
        operation(5, 6, list, ['Fern']),
      ],
      stream('+7 Fern'),
    ],
    'a create with an unknown outcome that is recorded': [[unknownFern], stream('+7 Fern')],
    'a create with an unknown outcome that is not recorded': [[unknownFern], stream()],
    'a create with an unknown outcome that takes effect after its answer': [
      [unknownFern, operation(3, 4, list, []), operation(5, 6, list, ['Fern'])],
      stream('+7 Fern'),
    ],
    'a delete with an unknown outcome that is repeated': [
      [
        fern,
        operation(3, 4, remove(7), 'unknown'),
        operation(5, 6, list, []),
        operation(7, 8, remove(7), 'unknown'),
      ],
      stream('+7 Fern', '-7'),
    ],
    'an acknowledged delete besides an unknown one of the same id': [
      [fern, operation(3, 9, remove(7), 'unknown'), operation(4, 5, remove(7), 'deleted')],
      stream('+7 Fern', '-7'),
    ],
    'two deletes of an id that was created again, of which the second to start ends first': [
      [
        fern,
        operation(3, 20, remove(7), 'deleted'),
        operation(4, 6, remove(7), 'deleted'),
        operation(7, 8, create(7, 'Moss'), 'created'),
      ],
      stream('+7 Fern', '-7', '+7 Moss', '-7'),
    ],
  };

  for (const [what, [operations, events]] of Object.entries(accepted)) {
    it(`accepts ${what}`, () => expect(linearizationProblem(operations, events)).to.equal(undefined));
  }

  const rejected: Record<string, [Operation[], StreamEvent[], RegExp]> = {
    'an acknowledged create that is not recorded': [[fern], stream(), /^at version 0, the last, .*Fern/],
    'an acknowledged delete that is not recorded': [
      [fern, operation(3, 4, remove(7), 'deleted')],
      stream('+7 Fern'),
      /^at version 1, the last, .*delete/,
    ],
    'one deletion that was acknowledged to two requests': [
      [fern, operation(3, 5, remove(7), 'deleted'), operation(4, 6, remove(7), 'deleted')],
      stream('+7 Fern', '-7'),
      /^at version 2, the last, .*delete/,
    ],
    'a create that is recorded twice': [
      [fern, operation(3, 4, remove(7), 'deleted')],
      stream('+7 Fern', '-7', '+7 Fern'),
      /^after version 2 .*Fern/,
    ],
    'an id that two plants have at a time': [
      [operation(1, 3, create(7, 'Fern'), 'created'), operation(2, 4, create(7, 'Moss'), 'created')],
      stream('+7 Fern', '+7 Moss'),
      /^after version 1 .*Moss/,
    ],
    'a deletion of an id that no plant has': [
      [operation(1, 2, remove(7), 'deleted')],
      stream('-7'),
      /^after version 0 .*PlantDeleted/,
    ],
    'an event that no request caused': [[], stream('+7 Fern'), /^after version 0 .*Fern/],
    'an event with another name than was requested': [[fern], stream('+7 Moss'), /^after version 0 .*Moss/],
    'an event of a create that was rejected': [
      [fern, operation(3, 4, remove(7), 'deleted'), operation(1, 9, create(7, 'Moss'), 'id-taken')],
      stream('+7 Fern', '-7', '+7 Moss'),
      /^after version 2 .*Moss/,
    ],
    'a list that misses an acknowledged write': [
      [fern, operation(3, 4, list, [])],
      stream('+7 Fern'),
      /^at version 1, the last, .*list/,
    ],
    'a list that is older than another client’s earlier list': [
      [
        operation(1, 9, create(7, 'Fern'), 'created'),
        operation(2, 4, list, ['Fern']),
        operation(5, 6, list, []),
      ],
      stream('+7 Fern'),
      /^at version 1, the last, .*list/,
    ],
    'a list that shows a plant before its create was requested': [
      [operation(1, 2, list, ['Fern']), operation(3, 4, create(7, 'Fern'), 'created')],
      stream('+7 Fern'),
      /^after version 0 .*list/,
    ],
    'a list in another order than that of creation': [
      [fern, operation(3, 4, create(8, 'Moss'), 'created'), operation(5, 6, list, ['Moss', 'Fern'])],
      stream('+7 Fern', '+8 Moss'),
      /^at version 2, the last, .*list/,
    ],
    'a create that was rejected though its id was free': [
      [operation(1, 2, create(7, 'Fern'), 'id-taken')],
      stream(),
      /^at version 0, the last, .*id-taken/,
    ],
    'a delete that was rejected though its plant was there': [
      [fern, operation(3, 4, remove(7), 'no-such-plant')],
      stream('+7 Fern'),
      /^at version 1, the last, .*no-such-plant/,
    ],
    'writes that are recorded in another order than they were acknowledged in': [
      [fern, operation(3, 4, create(8, 'Moss'), 'created')],
      stream('+8 Moss', '+7 Fern'),
      /^after version 0 .*Moss/,
    ],
    'a create with an unknown outcome that takes effect before it was requested': [
      [operation(1, 2, list, ['Fern']), operation(3, 4, create(7, 'Fern'), 'unknown')],
      stream('+7 Fern'),
      /^after version 0 .*list/,
    ],
    'an impossible response': [
      [operation(1, 2, list, '500/50000')],
      stream(),
      /^at version 0, the last, .*50000/,
    ],
  };

  for (const [what, [operations, events, problem]] of Object.entries(rejected)) {
    it(`rejects ${what}`, () => expect(linearizationProblem(operations, events)).to.match(problem));
  }

  const wishes = fc.array(
    fc.record({
      type: fc.constantFrom('list', ...(Object.keys(WRITES) as PlantRequest['type'][])),
      id: fc.integer({ min: 1, max: 3 }),
      before: fc.integer({ min: 0, max: 60 }),
      behind: fc.integer({ min: 0, max: 60 }),
      unknown: fc.boolean(),
    }),
    { maxLength: 60 },
  );

  it('accepts any overlapping requests that one instance serves one at a time', () => {
    fc.assert(
      fc.property(wishes, (all) => {
        const { operations, events } = serveInOrder(all);
        expect(linearizationProblem(operations, events)).to.equal(undefined);
      }),
    );
  });

  it('rejects such a history if one event is removed', () => {
    fc.assert(
      fc.property(wishes, fc.nat(), (all, nth) => {
        const known = all.map((wish) => ({ ...wish, unknown: false }));
        const { operations, events } = serveInOrder(known);
        fc.pre(events.length > 0);
        const rest = events.toSpliced(nth % events.length, 1);
        expect(linearizationProblem(operations, rest)).to.be.a('string');
      }),
    );
  });
});

/** Each request takes effect at ten times its index; it starts before that time and ends after it. */
function serveInOrder(
  wishes: readonly {
    readonly type: PlantRequest['type'];
    readonly id: number;
    readonly before: number;
    readonly behind: number;
    readonly unknown: boolean;
  }[],
) {
  const plants = new Map<number, string>();
  const events: StreamEvent[] = [];
  const operations = wishes.map(({ type, id, before, behind, unknown }, place) => {
    const request: PlantRequest = { type, id, name: `plant ${place}` };
    const answer = serve(request);
    const [asked, answered] = [10 * place - before, 10 * place + behind];
    return operation(asked, answered, request, unknown && type !== 'list' ? 'unknown' : answer);
  });
  return { operations, events };

  function serve(request: PlantRequest): Operation['answer'] {
    switch (request.type) {
      case 'list':
        return [...plants.values()];
      case 'create':
        if (plants.has(request.id)) return 'id-taken';
        plants.set(request.id, request.name);
        events.push({ type: 'PlantCreated', id: request.id, name: request.name });
        return 'created';
      case 'delete':
        if (!plants.delete(request.id)) return 'no-such-plant';
        events.push({ type: 'PlantDeleted', id: request.id });
        return 'deleted';
    }
  }
}
