/** The domain of the engine's tests: labels by id. A command is the event that it leads to. */
import {
  type Decider,
  type EncodedEvent,
  type Head,
  type StateCodec,
  jsonCodec,
} from '../../src/event-sourcing';

export type LabelEvent =
  | { readonly type: 'Created'; readonly id: number; readonly name: string }
  | { readonly type: 'Deleted'; readonly id: number };
export type Rejection = 'id-taken' | 'no-such-id';
export type Labels = ReadonlyMap<number, string>;

export const labels: Decider<LabelEvent, LabelEvent, Rejection, Labels> = {
  initialState: () => new Map(),
  decide(event, state) {
    if (state.has(event.id) === (event.type === 'Deleted')) return { events: [event] };
    return { rejection: event.type === 'Created' ? 'id-taken' : 'no-such-id' };
  },
  evolve(state, event) {
    const { rejection } = labels.decide(event, state);
    if (rejection) throw new RangeError(rejection);
    const others = [...state].filter(([id]) => id !== event.id);
    return new Map(event.type === 'Created' ? [...others, [event.id, event.name]] : others);
  },
};

export const stateAfter = (events: readonly LabelEvent[]): Labels =>
  events.reduce((state, event) => labels.evolve(state, event), labels.initialState());

export const footprint = {
  items: ({ size }: Labels) => size,
  bytes: ({ size }: Labels) => 100 * size,
  bytesAddedBy: ({ type }: LabelEvent) => (type === 'Created' ? 100 : 0),
};

export const created = (id: number, name: string): LabelEvent => ({ type: 'Created', id, name });
export const deleted = (id: number): LabelEvent => ({ type: 'Deleted', id });
export const ferns = (count: number): LabelEvent[] =>
  Array.from({ length: count }, (_, index) => created(index, `Fern ${index}`));

export const codec = jsonCodec<LabelEvent>({
  Created: { id: Number.isSafeInteger, name: (value) => typeof value === 'string' },
  Deleted: { id: Number.isSafeInteger },
});
export const encoded = (...events: readonly LabelEvent[]): EncodedEvent[] =>
  events.map((event) => codec.encode(event));

export const labelsCodec: StateCodec<Labels> = {
  format: 'labels-1',
  encode: (state) => [JSON.stringify([...state])],
  readers: {
    'labels-1': (state, chunk) =>
      (JSON.parse(chunk) as [number, string][]).reduce(
        (all, [id, name]) => labels.evolve(all, created(id, name)),
        state,
      ),
  },
};

/** All labels, and the head that they are at. */
export const listing = (state: Labels, head: Head) => ({ names: [...state.values()], head });
