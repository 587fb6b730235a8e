import { type CliCommand, JSON_OUTPUT, QUIET } from './command';
import { NO_PROGRESS, progressOn } from './progress';
import { escapeForTerminal, pluralize } from './terminal';

export const eventsConvert: CliCommand = {
  name: 'events convert',
  summary: 'convert a store in Redis that an earlier version wrote',
  options: {
    undo: { description: 'convert back, for that version' },
    ...QUIET,
    ...JSON_OUTPUT,
  },
  details: [
    'For a store whose keys have no buckets: this version refuses to start on it. Stop all instances first. Renames',
    'the keys of one user after the other, each at once; nothing is copied or removed. No instance of any version can',
    'use the store until the command has ended. If it is interrupted or killed, repeat it: it continues.',
    '',
    'Not for a Cluster: docs/runbooks/upgrade.md has the steps for it, and for the way back.',
    '',
    '  plant-store events convert',
  ],
  run: async (args, { redis, terminal: { stdout, stderr }, clock }) => {
    const progress = args.has('quiet') ? NO_PROGRESS : progressOn(stderr, clock, 'users converted');
    const { id, streams, refused } = await redis()
      .convert({ undo: args.has('undo'), onProgress: (count) => progress.advance(count, 0) })
      .finally(() => progress.end());
    for (const key of refused)
      await stderr.line(
        `refused: ${escapeForTerminal(key)} exists in both layouts, or cannot be converted back`,
      );
    if (args.has('json')) await stdout.line(JSON.stringify({ id, streams, refused }));
    else if (!args.has('quiet'))
      await stdout.line(
        id === undefined
          ? 'There is nothing to convert.'
          : `Converted ${pluralize(streams, 'user')} of the store ${id}.`,
      );
    return refused.length === 0 ? 'done' : 'refused';
  },
};
