import { MEMBER_NAMES, PlantList, charactersOf, columnsOf, isPlant, parsePlantId, plantOf } from '../domain';
import type { StateCodec } from '../event-sourcing';

/** Length of a chunk, in characters: it is complete with the row that reaches it. */
const CHUNK_LENGTH = 32 * 1024;
/** Up to this length an id is an exact number. It is written as one: JSON.parse would intern a short text. */
const EXACT_LENGTH = 15;
/** Estimated length of a row without its texts. */
const ROW_LENGTH = 20;

/** Position, id and members of a living plant; the last row is the version of the list alone. */
type PlantRow = readonly unknown[];

/**
 * The codec of plant lists: the format of snapshots. Decision record 0014 explains it.
 *
 *     [[1,"9007199254740993","Fern"],[3,7,"Ivy","indoor"],[4]]
 *
 * Each chunk is a JSON array of rows. Equal lists have equal chunks. A member that a plant does not have is `null` before
 * a member that it has, and left out at the end: so a new member needs no other format. Where the rows or their meaning
 * change, the format needs another name. The reader of the old one stays, for bases.
 */
export const plantListCodec: StateCodec<PlantList> = {
  format: 'plants-1',

  encode: (list) => chunksOf(list.living(), list.version),

  readers: {
    'plants-1': (list, chunk) => {
      for (const row of rowsOf(chunk)) decodeRow(list, row);
      return list;
    },
  },
};

function* chunksOf(living: ReturnType<PlantList['living']>, version: number): Generator<string> {
  let rows: PlantRow[] = [];
  let length = 0;
  for (const { position, id, plant } of living) {
    rows.push([position, id.length > EXACT_LENGTH ? id : Number(id), ...columnsOf(plant)]);
    length += ROW_LENGTH + id.length + charactersOf(plant);
    if (length < CHUNK_LENGTH) continue;
    yield JSON.stringify(rows);
    rows = [];
    length = 0;
  }
  yield JSON.stringify([...rows, [version]]);
}

/** Throws without a part of the text, unlike JSON.parse: errors are logged. */
function rowsOf(chunk: string): readonly PlantRow[] {
  try {
    const rows: unknown = JSON.parse(chunk);
    if (Array.isArray(rows) && rows.every(Array.isArray)) return rows as readonly PlantRow[];
  } catch {
    // As for any other text.
  }
  throw new TypeError('a chunk is not a JSON array of rows');
}

/** Throws if the row is invalid, or the rules could not have produced it. */
function decodeRow(list: PlantList, row: PlantRow): void {
  const [position, id, ...columns] = row;
  if (!Number.isSafeInteger(position)) throw new TypeError('a row without a position');
  if (row.length === 1) return list.skipTo(position as number);
  const plantId = typeof id === 'string' || typeof id === 'number' ? parsePlantId(String(id)) : undefined;
  const plant = Object.fromEntries(MEMBER_NAMES.map((name, column) => [name, columns[column] ?? undefined]));
  const isComplete = columns.length <= MEMBER_NAMES.length && columns.at(-1) !== null;
  if (plantId === undefined || !isComplete || !isPlant(plant))
    throw new TypeError(`no plant at position ${String(position)}`);
  list.skipTo((position as number) - 1);
  list.evolve({ type: 'PlantCreated', id: plantId, plant: plantOf(plant) });
}
