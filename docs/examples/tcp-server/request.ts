import { NewPlant, PLANT_ID_RULE, type PlantId, parsePlantId } from 'plant-store/domain';

interface Numbered {
  /** The client's number of the request, returned in the response. */
  readonly seq: unknown;
}

export type Request = Numbered &
  (
    | { readonly do: 'create'; readonly plant: NewPlant }
    | { readonly do: 'delete'; readonly id: PlantId }
    | { readonly do: 'list'; readonly limit: number; readonly after: number }
    | { readonly do: 'nothing'; readonly why: string }
  );

/** The request in a line. The domain has the rules of its values. */
export function parseRequest(line: unknown): Request {
  const { seq, id, name, tag, limit = 100, after = 0, ...rest } = Object(line) as Record<string, unknown>;
  const nothing = (why: string): Request => ({ seq, do: 'nothing', why });
  const plantId = typeof id === 'string' ? parsePlantId(id) : undefined;

  switch (rest['do']) {
    case 'create': {
      const { plant, invalid } = NewPlant.from({ id, name, tag });
      return plant ? { seq, do: 'create', plant } : nothing(`${invalid.member} must be ${invalid.rule}`);
    }
    case 'delete':
      if (plantId === undefined) return nothing(`id must be ${PLANT_ID_RULE}`);
      return { seq, do: 'delete', id: plantId };
    case 'list':
      if (!isCount(limit) || !isCount(after)) return nothing('limit and after must be 0 or above');
      return { seq, do: 'list', limit, after };
    default:
      return nothing('do must be create, delete or list');
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
