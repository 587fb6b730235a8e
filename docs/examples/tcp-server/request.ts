import { type NewPlant, type PlantId, parsePlantId } from 'plant-store/domain';

interface Numbered {
  /** The client's own number for it, sent back with the answer. */
  readonly seq: unknown;
}

export type Request = Numbered &
  (
    | { readonly do: 'create'; readonly plant: NewPlant }
    | { readonly do: 'delete'; readonly id: PlantId }
    | { readonly do: 'list'; readonly limit: number; readonly after: number }
    | { readonly do: 'nothing'; readonly why: string }
  );

/** What a line asks for. The rules of the values are the domain's; the transport has to see that they are kept. */
export function parseRequest(line: unknown): Request {
  const { seq, id, name, tag, limit = 100, after = 0, ...rest } = Object(line) as Record<string, unknown>;
  const nothing = (why: string): Request => ({ seq, do: 'nothing', why });
  const plantId = typeof id === 'string' ? parsePlantId(id) : undefined;

  switch (rest['do']) {
    case 'create':
      if (plantId === undefined) return nothing('id must be an int64 as a string of decimal digits');
      if (!isText(name) || name === '') return nothing('name must be text, and not empty');
      if (tag !== undefined && !isText(tag)) return nothing('tag must be text');
      return { seq, do: 'create', plant: { id: plantId, name, ...(tag === undefined ? {} : { tag }) } };
    case 'delete':
      if (plantId === undefined) return nothing('id must be an int64 as a string of decimal digits');
      return { seq, do: 'delete', id: plantId };
    case 'list':
      if (!isCount(limit) || !isCount(after)) return nothing('limit and after must be 0 or above');
      return { seq, do: 'list', limit, after };
    default:
      return nothing('do must be create, delete or list');
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
