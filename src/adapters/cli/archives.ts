import { createReadStream } from 'node:fs';
import { PlantList } from '../../domain';
import { BEGINNING, type StreamName, parseJsonObject } from '../../event-sourcing';
import { DamagedFile, type ArchivedList, type RecordedCommit, readEventFile } from './event-file';
import { type Seal, formatOf } from './event-lines';
import { Refused } from './exit';
import { linesOf } from './lines';
import { shown } from './stream-text';
import { escapeForTerminal } from './terminal';

/** The files of `--archive`, by stream, in the order of their versions. */
export type Archives = ReadonlyMap<StreamName, readonly string[]>;

/**
 * Finds out which stream each archive is of, by its first lines. Throws {@link Refused}, also for an archive of none
 * of `streams`, if these are given.
 */
export async function findArchives(
  paths: readonly string[],
  streams: readonly StreamName[],
): Promise<Archives> {
  const found: { path: string; stream: StreamName; after: number }[] = [];
  for (const path of paths) {
    const [header, second] = await firstLines(path, 2);
    const { stream: name, after = 0 } = parseJsonObject(second ?? '');
    const stream = typeof name === 'string' ? formatOf(header)?.streamOf(name) : undefined;
    if (stream === undefined || typeof after !== 'number')
      throw new Refused(`${escapeForTerminal(path)} is not an archive of plant-store`);
    if (streams.length > 0 && !streams.includes(stream))
      throw new Refused(
        `${escapeForTerminal(path)} is an archive of ${shown(stream)}, whom --user does not name`,
      );
    found.push({ path, stream, after });
  }
  found.sort((one, other) => one.after - other.after);
  const archives = new Map<StreamName, string[]>();
  for (const { path, stream } of found) archives.set(stream, [...(archives.get(stream) ?? []), path]);
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
export function beginningOf(stream: StreamName): ArchivedList {
  return { stream, head: BEGINNING, archive: '', list: new PlantList() };
}

/** Reads the archives of one stream from its first event on. Returns where they end. Throws {@link Refused}. */
export async function* readArchives(
  stream: StreamName,
  paths: readonly string[],
): AsyncGenerator<RecordedCommit, ArchivedList> {
  let end = beginningOf(stream);
  for (const path of paths) end = yield* readArchive(path, end);
  return end;
}

/** Reads the archive at `path`, which continues after `before`; the list of that takes its events. */
export async function* readArchive(
  path: string,
  before: ArchivedList,
): AsyncGenerator<RecordedCommit, ArchivedList> {
  let { head } = before;
  try {
    const units = readEventFile(createReadStream(path), before);
    for (let unit = await units.next(); ; unit = await units.next()) {
      if (unit.done) return { ...before, head, archive: unit.value };
      if (unit.value.stream !== before.stream) throw new DamagedFile('it has events of another stream');
      if (unit.value.kind === 'stream-end') ({ head } = unit.value);
      else yield unit.value;
    }
  } catch (error) {
    if (error instanceof DamagedFile) throw new Refused(`${escapeForTerminal(path)}: ${error.message}`);
    throw error;
  }
}

/** Reads to the end of some archives. */
export async function endOf(
  commits: AsyncGenerator<RecordedCommit, ArchivedList>,
  onCommit: (commit: RecordedCommit) => unknown = () => {},
): Promise<ArchivedList> {
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
