import type { CliCommand, RawCommand } from './command';
import { eventsArchive } from './events-archive';
import { eventsConvert } from './events-convert';
import { eventsErase } from './events-erase';
import { eventsExport } from './events-export';
import { eventsImport } from './events-import';
import { eventsKey } from './events-key';
import { eventsProjection } from './events-projection';
import { eventsStoreId } from './events-store-id';
import { eventsTail } from './events-tail';
import { eventsVerify } from './events-verify';
import { create, list, remove } from './plants';
import { tokenNew } from './token-new';

const serve: RawCommand = {
  name: 'serve',
  summary: 'run the service; `serve --help` lists its configuration',
  runRaw: (args, context) => context.serve(args),
};

/** All commands, in the order of `--help`. */
export const COMMANDS: readonly (CliCommand | RawCommand)[] = [
  serve,
  create,
  list,
  remove,
  eventsExport,
  eventsImport,
  eventsTail,
  eventsVerify,
  eventsArchive,
  eventsErase,
  eventsProjection,
  eventsStoreId,
  eventsKey,
  eventsConvert,
  tokenNew,
];
