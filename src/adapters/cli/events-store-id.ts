import { type CliCommand, JSON_OUTPUT, withStore } from './command';
import { Refused } from './exit';

export const eventsStoreId: CliCommand = {
  name: 'events store-id',
  summary: 'print the id of the store, for REDIS_STORE_ID',
  options: { ...JSON_OUTPUT },
  details: [
    'A service creates the id of a store when it starts on a store without one. An emptied store gets another id.',
    'With REDIS_STORE_ID, services and commands refuse every other store.',
    '',
    '  plant-store events store-id',
    '  echo "REDIS_STORE_ID=$(plant-store events store-id)" >> plant-store.env',
  ],
  run: (args, context) =>
    withStore(context, async ({ status }) => {
      const id = status?.().id;
      if (id === undefined)
        throw new Refused(
          'the store has no id: a service creates it when it starts, if Redis accepts writes',
        );
      await context.terminal.stdout.line(args.has('json') ? JSON.stringify({ id }) : id);
      return 'done';
    }),
};
