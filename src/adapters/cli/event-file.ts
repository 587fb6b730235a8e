import { BEGINNING, type Head, type User } from '../../application';
import { ImpossibleHistory, type PlantEvent, PlantList } from '../../domain';
import { type EventLine, type Seal, parseEventLine, parseTrailerLine, sealOf } from './event-lines';
import { Refused } from './exit';
import { linesOf } from './lines';

/** One append of the past, as it can be made again. */
export interface RecordedCommit {
  readonly kind: 'commit';
  readonly stream: User;
  readonly expected: Head;
  readonly commit: string;
  readonly events: readonly PlantEvent[];
  /** Its lines, as they stand in the file. */
  readonly lines: string;
}

/** No more commits of this stream follow. */
export interface StreamEnd {
  readonly kind: 'stream-end';
  readonly stream: User;
  readonly head: Head;
  /** How many plants are alive then. */
  readonly plants: number;
}

/** What was exported is damaged, cut short, or was never exported. The message names the line. */
export class DamagedFile extends Refused {}

/**
 * Reads what `events export` wrote, commit by commit, and holds every line to
 * the format and every event to the rules. A commit is handed over only when
 * the line behind it is there, so never one that was cut off in its middle.
 *
 * Throws {@link DamagedFile}; all that was handed over before is sound as far
 * as lines and rules can tell. Only the end tells whether a byte was changed.
 */
export async function* readEventFile(
  input: AsyncIterable<Uint8Array>,
): AsyncGenerator<RecordedCommit | StreamEnd> {
  let seal: Seal | undefined;
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let number = 0;
  let streams = 0;
  let events = 0;
  let ended = false;
  let open: OpenStream | undefined;
  const damaged = (why: string) => new DamagedFile(`line ${number} ${why}`);

  for await (const bytes of linesOf(input)) {
    number++;
    if (ended) throw damaged('comes behind the end: import one export at a time');
    const line = decode(decoder, bytes);
    if (seal === undefined) {
      seal = sealOf(line);
      if (seal === undefined) throw damaged('is not how an export of plant-store begins');
      seal.update(bytes);
      continue;
    }
    const event = line === undefined ? undefined : parseEventLine(line);
    if (event === undefined) {
      const trailer = line === undefined ? undefined : parseTrailerLine(line);
      if (trailer === undefined) throw damaged('is not an event as an export has it, or was cut short');
      if (open) yield* open.end();
      if (trailer.streams !== streams || trailer.events !== events)
        throw damaged(
          `counts ${trailer.events} events of ${trailer.streams} users, where there are ${events} of ${streams}`,
        );
      if (trailer.seal !== seal.digest('hex'))
        throw damaged(
          'does not have the seal of what comes before it: something was changed, and a changed export is not imported',
        );
      ended = true;
      continue;
    }
    seal.update(bytes);
    events++;
    if (open?.stream !== event.stream) {
      if (open) yield* open.end();
      open = new OpenStream(event.stream);
      streams++;
    }
    try {
      yield* open.take(event, line!);
    } catch (error) {
      if (error instanceof ImpossibleHistory) throw damaged(`breaks a rule: ${error.message}`);
      throw error instanceof OutOfOrder ? damaged(error.message) : error;
    }
  }
  if (!ended)
    throw new DamagedFile(
      `the file ends behind line ${number}, but its last line is missing: it was cut short`,
    );
}

class OutOfOrder extends Error {}

/** The stream that is being read, with the commit that may not be whole yet. */
class OpenStream {
  readonly #plants = new PlantList();
  #head: Head = BEGINNING;
  #events: PlantEvent[] = [];
  #commit = '';
  #lines: string[] = [];

  constructor(readonly stream: User) {}

  *take({ version, commit, event }: EventLine, line: string): Generator<RecordedCommit> {
    const expected = this.#plants.version + 1;
    if (version !== expected) throw new OutOfOrder(`is version ${version} where ${expected} was expected`);
    if (commit !== this.#commit) yield* this.#close();
    this.#plants.evolve(event);
    this.#commit = commit;
    this.#events.push(event);
    this.#lines.push(line);
  }

  *end(): Generator<RecordedCommit | StreamEnd> {
    yield* this.#close();
    yield { kind: 'stream-end', stream: this.stream, head: this.#head, plants: this.#plants.size };
  }

  *#close(): Generator<RecordedCommit> {
    const events = this.#events;
    if (events.length === 0) return;
    const commit = this.#commit;
    yield {
      kind: 'commit',
      stream: this.stream,
      expected: this.#head,
      commit,
      events,
      lines: this.#lines.join(''),
    };
    this.#head = { version: this.#head.version + events.length, commit };
    this.#events = [];
    this.#lines = [];
  }
}

function decode(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
