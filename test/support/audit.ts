import type { Redis } from 'ioredis';
import type { Operation } from './load';

/** An event as it stands in Redis. */
export interface StoredEvent {
  readonly entry: string;
  readonly type: string;
  readonly id: number;
  readonly name?: string;
}

export async function storedEvents(redis: Pick<Redis, 'xrange'>, key: string): Promise<StoredEvent[]> {
  const entries = await redis.xrange(key, '-', '+');
  return entries.map(([entry, [, type, , data]]) => {
    const { id, name } = JSON.parse(data!) as { id: number; name?: string };
    return { entry, type: type!, id, ...(name === undefined ? {} : { name }) };
  });
}

/**
 * Holds what one user's clients were told against what is stored, and complains
 * of every promise that was broken; no complaint, no broken promise.
 *
 * The stream is the one order in which everything happened, so linearizability
 * needs no search: each answer must be true at some version of the stream that
 * is not older than any which an earlier answer spoke of, and not newer than
 * what had been asked for when it was given.
 */
export function audit(operations: readonly Operation[], stream: readonly StoredEvent[]): string[] {
  const history = new History(stream);
  const causes = causesOf(operations);
  return [
    ...history.complaints,
    ...history.lives.flatMap(({ name, created, deleted }) => [
      ...(causes.get(`create ${name}`) === undefined
        ? [`event ${created}: nobody may have created ${name}`]
        : []),
      ...(deleted !== undefined && causes.get(`delete ${name}`) === undefined
        ? [`event ${deleted}: nobody may have deleted ${name}`]
        : []),
    ]),
    ...complaintsInOrder(operations, history, causes),
  ];
}

/** One plant from its creation to its deletion. */
interface Life {
  readonly id: number;
  readonly name: string;
  readonly created: number;
  deleted?: number;
}

class History {
  readonly complaints: string[] = [];
  readonly lives: Life[] = [];
  readonly byName = new Map<string, Life>();
  /** By version, from 0 on: the names of all living plants, in order. */
  readonly listings: string[] = [''];
  readonly #byId = new Map<number, Life[]>();

  constructor(stream: readonly StoredEvent[]) {
    const living = new Map<number, Life>();
    stream.forEach(({ entry, type, id, name }, index) => {
      const version = index + 1;
      const alive = living.get(id);
      if (entry !== `${version}-0`) this.complaints.push(`event ${version} is stored as ${entry}`);
      if (type === 'PlantCreated') {
        if (alive) this.complaints.push(`event ${version} creates ${id}, which is taken`);
        const life: Life = { id, name: name!, created: version };
        living.set(id, life);
        this.lives.push(life);
        if (this.byName.has(life.name)) this.complaints.push(`event ${version} creates ${life.name} again`);
        else this.byName.set(life.name, life);
        this.#byId.set(id, [...(this.#byId.get(id) ?? []), life]);
      } else if (alive) {
        alive.deleted = version;
        living.delete(id);
      } else this.complaints.push(`event ${version} deletes ${id}, which is free`);
      // Insertion order is creation order, since a deleted id leaves the map.
      this.listings.push([...living.values()].map((life) => life.name).join());
    });
  }

  get version(): number {
    return this.listings.length - 1;
  }

  isAlive(id: number, version: number): boolean {
    const lives = this.#byId.get(id) ?? [];
    return lives.some(({ created, deleted = Infinity }) => created <= version && version < deleted);
  }
}

/** When a write was first asked for, unless it was refused: what was refused causes nothing. */
function causesOf(operations: readonly Operation[]): Map<string, number> {
  const causes = new Map<string, number>();
  for (const { attempt, asked, answer } of operations) {
    if (attempt.kind === 'list' || !(answer.status < 300 || answer.error === 50301)) continue;
    const cause = `${attempt.kind} ${attempt.name}`;
    causes.set(cause, Math.min(asked, causes.get(cause) ?? Infinity));
  }
  return causes;
}

function complaintsInOrder(
  operations: readonly Operation[],
  history: History,
  causes: ReadonlyMap<string, number>,
): string[] {
  const askedFor: number[] = [-Infinity];
  for (const { name, created, deleted } of history.lives) {
    askedFor[created] = causes.get(`create ${name}`) ?? -Infinity;
    if (deleted !== undefined) askedFor[deleted] = causes.get(`delete ${name}`) ?? -Infinity;
  }

  const complaints: string[] = [];
  const acknowledged = new Set<number>();
  const spokenOf = new Map<Operation, number>();
  const byAnswer = operations.toSorted((a, b) => a.answered - b.answered);
  let next = 0;
  let known = 0;
  for (const operation of operations.toSorted((a, b) => a.asked - b.asked)) {
    for (; byAnswer[next]!.answered < operation.asked; next++)
      known = Math.max(known, spokenOf.get(byAnswer[next]!) ?? 0);
    const { attempt, asked, answered, answer } = operation;
    const complain = (what: string) => void complaints.push(`${what}: ${JSON.stringify(operation)}`);

    if (attempt.kind !== 'list' && (answer.status < 300 || answer.error === 50301)) {
      const acked = answer.status < 300;
      const life = history.byName.get(attempt.name);
      const event = attempt.kind === 'create' ? life?.created : life?.deleted;
      if (event === undefined) {
        if (acked) complain('acknowledged and lost');
        continue;
      }
      if (acked && acknowledged.has(event)) complain('acknowledged twice');
      // Of several tries whose outcome was unknown any may have been it, so the first is the one to ask.
      const first = causes.get(`${attempt.kind} ${attempt.name}`) === asked;
      if ((acked || first) && event <= known) complain(`is event ${event}, and ${known} was known before`);
      if (acked) {
        acknowledged.add(event);
        spokenOf.set(operation, event);
      }
      continue;
    }

    const isTrue = claimOf(operation, history);
    if (isTrue === undefined) {
      if (answer.status !== 503) complain('an answer that nobody expected');
      continue;
    }
    let version = known;
    while (!isTrue(version) && version < history.version && askedFor[version + 1]! < answered) version++;
    if (isTrue(version)) spokenOf.set(operation, version);
    else complain(`not true at any of the versions ${known} to ${version}`);
  }
  return complaints;
}

/** What an answer says of the state that it was given from; `undefined` where it says nothing. */
function claimOf(
  { attempt, answer }: Operation,
  history: History,
): ((version: number) => boolean) | undefined {
  if (attempt.kind === 'list') {
    const names = answer.names?.join();
    return names === undefined ? undefined : (version) => history.listings[version] === names;
  }
  if (attempt.kind === 'create' && answer.error === 40003)
    return (version) => history.isAlive(attempt.id, version);
  if (attempt.kind === 'delete' && answer.error === 40401)
    return (version) => !history.isAlive(attempt.id, version);
  return undefined;
}
