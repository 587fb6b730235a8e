import type { AnyKind, RecordedEvent, StreamName } from '../../event-sourcing';
import { escapeForTerminal } from './terminal';

/** How a command names a stream on the terminal. */
export function shown(stream: StreamName): string {
  return escapeForTerminal(stream);
}

/** After the name of a stream. */
export const OF_NO_KIND = 'whose category this version does not know';

/** An event as a line for a person, without its end. */
export function plainLine(kind: AnyKind, { version, commit, event, type }: RecordedEvent<unknown>): string {
  return [String(version), commit, type, ...kind.columnsOf(event)].map(escapeForTerminal).join('\t');
}
