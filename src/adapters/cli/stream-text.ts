import { type StreamName, partsOf } from '../../event-sourcing';
import { escapeForTerminal } from './terminal';

/** How a command names a stream on the terminal: by its user. */
export function shown(stream: StreamName): string {
  return escapeForTerminal(partsOf(stream).id);
}
