import { createReadStream } from 'node:fs';
import {
  type AnyKind,
  BEGINNING,
  ReplayedState,
  type StreamName,
  kindOf,
  parseJsonObject,
  partsOf,
} from '../../event-sourcing';
import { DamagedFile, type ArchivedState, type RecordedCommit, readEventFile } from './event-file';
import { type Seal, formatOf } from './event-lines';
import { Refused } from './exit';
import { linesOf } from './lines';
import type { StreamOfKind } from './found-streams';
import { OF_NO_KIND, shown } from './stream-text';
import { escapeForTerminal } from './terminal';

/** The files of `--archive`, by stream, in the order of their versions. */
export type Archives = ReadonlyMap<StreamName, ArchiveFiles>;

export interface ArchiveFiles extends StreamOfKind {
  readonly paths: readonly string[];
}

/**
 * Finds out which stream each archive is of, by its first lines. Throws {@link Refused}, also for an archive of none
 * of `users`, if these are given.
 */
export async function findArchives(
  paths: readonly string[],
  kinds: readonly AnyKind[],
  users: readonly string[],
): Promise<Archives> {
  const found: (StreamOfKind & { path: string; after: number })[] = [];
  for (const path of paths) {
    const [header, second] = await firstLines(path, 2);
    const { stream: name, after = 0 } = parseJsonObject(second ?? '');
    const stream = typeof name === 'string' ? formatOf(header)?.streamOf(name) : undefined;
    if (stream === undefined || typeof after !== 'number')
      throw new Refused(`${escapeForTerminal(path)} is not an archive of plant-store`);
    const kind = kindOf(kinds, stream);
    if (kind === undefined)
      throw new Refused(`${escapeForTerminal(path)} is an archive of ${shown(stream)}, ${OF_NO_KIND}`);
    if (users.length > 0 && !users.includes(partsOf(stream).id))
      throw new Refused(
        `${escapeForTerminal(path)} is an archive of ${shown(stream)}, whom --user does not name`,
      );
    found.push({ path, stream, kind, after });
  }
  found.sort((one, other) => one.after - other.after);
  const archives = new Map<StreamName, ArchiveFiles>();
  for (const { path, stream, kind } of found)
    archives.set(stream, { stream, kind, paths: [...(archives.get(stream)?.paths ?? []), path] });
  return archives;
}

async function firstLines(path: string, count: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(createReadStream(path))) {
    lines.push(line.toString());
    if (lines.length === count) break;
  }
  return lines;
}

/** The beginning of a stream, before its first archive. */
export function beginningOf({ stream, kind }: StreamOfKind): ArchivedState {
  return { stream, head: BEGINNING, archive: '', state: new ReplayedState(kind) };
}

/** Reads the archives of one stream from its first event on. Returns where they end. Throws {@link Refused}. */
export async function* readArchives(
  stream: StreamOfKind,
  { paths }: Pick<ArchiveFiles, 'paths'>,
): AsyncGenerator<RecordedCommit, ArchivedState> {
  let end = beginningOf(stream);
  for (const path of paths) end = yield* readArchive(path, end);
  return end;
}

/** Reads the archive at `path`, which continues after `before`, and applies its events to the state there. */
export async function* readArchive(
  path: string,
  before: ArchivedState,
): AsyncGenerator<RecordedCommit, ArchivedState> {
  let { head } = before;
  try {
    const units = readEventFile(createReadStream(path), [before.state.kind], before);
    for (let unit = await units.next(); ; unit = await units.next()) {
      if (unit.done) return { ...before, head, archive: unit.value };
      if (unit.value.stream !== before.stream) throw new DamagedFile('it has events of another stream');
      if (unit.value.unit === 'stream-end') ({ head } = unit.value);
      else yield unit.value;
    }
  } catch (error) {
    if (error instanceof DamagedFile) throw new Refused(`${escapeForTerminal(path)}: ${error.message}`);
    throw error;
  }
}

/** Reads to the end of some archives. */
export async function endOf(
  commits: AsyncGenerator<RecordedCommit, ArchivedState>,
  onCommit: (commit: RecordedCommit) => unknown = () => {},
): Promise<ArchivedState> {
  for (;;) {
    const commit = await commits.next();
    if (commit.done) return commit.value;
    onCommit(commit.value);
  }
}

/** The seal of the export at `path`, which matches its bytes. Throws {@link Refused}. */
export async function verifiedSeal(path: string): Promise<string> {
  let seal: Seal | undefined;
  let last: Buffer | undefined;
  for await (const line of linesOf(createReadStream(path))) {
    if (last === undefined) seal = formatOf(line.toString())?.newSeal();
    else seal?.update(last);
    last = line;
  }
  const { seal: written } = parseJsonObject(last?.toString() ?? '');
  if (seal === undefined || seal.digest('hex') !== written)
    throw new Refused(`${escapeForTerminal(path)} is not an archive of plant-store, or it is damaged`);
  return written;
}
