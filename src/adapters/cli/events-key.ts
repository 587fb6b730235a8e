import { plantsOf } from '../../application';
import { type Command, USER } from './command';

export const eventsKey: Command = {
  name: 'events key',
  summary: 'print the Redis key of a user’s events',
  options: { ...USER },
  details: [
    'The keys of the user’s snapshot and base snapshot end with `snapshot` and `base` instead of `events`. The command',
    'only computes the key, so it needs no Redis.',
    '',
    '  plant-store events key --user alice',
    '  redis-cli XRANGE "$(plant-store events key --user alice)" - +',
  ],
  run: async (args, { redis, terminal }) => {
    await terminal.stdout.line(redis().keyOf(plantsOf(args.user())));
    return 'done';
  },
};
