import {
  type AnyKind,
  type EncodedEvent,
  type StoredEvent,
  type StreamName,
  atLeastOnce,
  kindOf,
  partsOf,
  project,
  recordedEvent,
} from '../../event-sourcing';
import type { CliContext, CliStore } from './command';
import { eventLine } from './event-lines';
import { Refused } from './exit';
import { plainLine, shown } from './stream-text';

/** Prints the events of all streams as they are recorded, until the signal is aborted. */
export async function followAll(
  { store, feed, catalogue, snapshots }: CliStore,
  json: boolean,
  { kinds, clock, terminal, newCheckpoint }: CliContext,
  signal: AbortSignal,
): Promise<void> {
  if (feed === undefined) throw new Refused('this store has no feed: name a user with --user');
  const report = (line: string) => {
    void terminal.stderr.line(line).catch(() => {});
  };
  const lineOf = (stream: StreamName, kind: AnyKind, stored: StoredEvent) => {
    const recorded = recordedEvent(kind.codec, stored);
    return json ? eventLine(kind, stream, recorded) : `${shown(stream)}\t${plainLine(kind, recorded)}\n`;
  };
  const unknown = new Set<string>();
  const reportUnknown = (stream: StreamName) => {
    const { category = 'none' } = partsOf(stream);
    if (unknown.has(category)) return;
    unknown.add(category);
    report(`Events of the category ${category} are not printed: this version does not know it.`);
  };
  const projection = project<EncodedEvent>(
    { store, feed, catalogue, snapshots },
    {
      ...atLeastOnce(newCheckpoint(), async (slices) => {
        for (const { stream, events } of slices) {
          const kind = kindOf(kinds, stream);
          if (kind === undefined) reportUnknown(stream);
          else for (const event of events) await terminal.stdout.write(lineOf(stream, kind, event));
        }
      }),
      // Each stream has the codec of its kind.
      codec: { encode: (event) => event, decode: (event) => event },
      clock,
      from: 'end',
      lostTail: () => report('A failover lost events that were printed; the current ones follow.'),
      observer: {
        unavailable: ({ message }) => report(`The event store is unavailable (${message}); retrying.`),
        stopped: ({ stream, error }) =>
          report(`Events ${stream ? `of ${shown(stream)} ` : ''}cannot be read: ${String(error)}`),
      },
    },
  );
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });
  await projection.close();
}
