import type { Command, PassedOn } from './command';
import { eventsErase } from './events-erase';
import { eventsExport } from './events-export';
import { eventsImport } from './events-import';
import { eventsTail } from './events-tail';
import { eventsVerify } from './events-verify';
import { create, list, remove } from './plants';
import { tokenNew } from './token-new';

const serve: PassedOn = {
  name: 'serve',
  summary: 'run the service; `serve --help` lists its configuration',
  passOn: (args, world) => world.serve(args),
};

/** All there are, in the order in which `--help` lists them. */
export const COMMANDS: readonly (Command | PassedOn)[] = [
  serve,
  create,
  list,
  remove,
  eventsExport,
  eventsImport,
  eventsTail,
  eventsVerify,
  eventsErase,
  tokenNew,
];
