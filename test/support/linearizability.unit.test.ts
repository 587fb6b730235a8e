import { expect } from 'chai';
import fc from 'fast-check';
import { type Operation, type StreamEvent, linearizationProblem } from './linearizability';
import { type PlantRequest, WRITES } from './plant-requests';

function operation(
  asked: number,
  answered: number,
  request: PlantRequest,
  answer: Operation['answer'],
): Operation {
  return { asked, answered, request, answer };
}

describe('The linearizability oracle', () => {
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
    if (request.type === 'list') return [...plants.values()];
    const { event, acknowledged, rejected, onLiving, nameAfter } = WRITES[request.type];
    if (plants.has(request.id) !== onLiving) return rejected;
    const name = nameAfter(request);
    if (name === undefined) plants.delete(request.id);
    else plants.set(request.id, name);
    events.push({ type: event, id: request.id, ...(name !== undefined && { name }) });
    return acknowledged;
  }
}
