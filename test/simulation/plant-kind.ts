/** The rules of the plants of the world as a kind of aggregate: its commands are requests, and its events those that changed something. */
import { type Kind, type StreamName, streamOf } from '../../src/event-sourcing';
import type { Request } from '../world/history';
import { type Plants, after } from '../world/plants';

export type Write = Exclude<Request, { readonly type: 'list' }>;

export const plantKind: Kind<Write, Write, 'taken' | 'none', Plants> = {
  category: 'plants',
  decider: {
    initialState: () => [],
    decide(write, plants) {
      const { answer } = after(plants, write);
      return answer === 'ok' ? { events: [write] } : { rejection: answer as 'taken' | 'none' };
    },
    evolve(plants, write) {
      const { plants: next, answer } = after(plants, write);
      if (answer !== 'ok') throw new Error(`${write.type} ${write.id} cannot have been recorded`);
      return next;
    },
  },
  codec: {
    encode: (write) => ({ type: write.type, data: JSON.stringify(write) }),
    decode: ({ data }) => JSON.parse(data) as Write,
  },
  // With a chunk for each plant.
  stateCodec: {
    format: 'plants',
    encode: (plants) => plants.map((plant) => JSON.stringify(plant)),
    decode: (plants, chunk) => [...plants, JSON.parse(chunk) as Plants[number]],
  },
};

export const nameOf = (user: string): StreamName => streamOf(plantKind.category, user);

export const userOf = (stream: string): string => stream.slice(plantKind.category.length + 1);
