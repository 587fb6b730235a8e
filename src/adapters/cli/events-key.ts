import { type CliCommand, USER } from './command';
import { streamsOf } from './found-streams';

export const eventsKey: CliCommand = {
  name: 'events key',
  summary: 'print the Redis keys of a user’s events',
  options: { ...USER },
  details: [
    'One per line, for each kind of aggregate. The keys of the snapshots and base snapshots end with `snapshot` and',
    '`base` instead of `events`. The command only computes the keys, so it needs no Redis.',
    '',
    '  plant-store events key --user alice',
    '  redis-cli XRANGE "$(plant-store events key --user alice)" - +',
  ],
  run: async (args, { kinds, redis, terminal }) => {
    const { keyOf } = redis();
    for (const { stream } of streamsOf(kinds, args.user())) await terminal.stdout.line(keyOf(stream));
    return 'done';
  },
};
