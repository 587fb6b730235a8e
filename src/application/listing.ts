import type { Page, Plant, PlantList } from '../domain';
import type { Head } from '../event-sourcing';

export interface ListQuery {
  /** 0 … Infinity. */
  readonly limit?: number;
  /** A listing's `next`, or 0 for the beginning. */
  readonly after?: number;
}

/** The query of a whole list: the value of each member that is absent. */
export const WHOLE_LIST: Required<ListQuery> = { limit: Infinity, after: 0 };

/** A query with all members. Throws TypeError if one is invalid. */
export function completeQuery({
  limit = WHOLE_LIST.limit,
  after = WHOLE_LIST.after,
}: ListQuery): Required<ListQuery> {
  if (!(limit >= 0)) throw new TypeError('limit must be a number of plants, 0 or more');
  if (!(after >= 0)) throw new TypeError("after must be a listing's next, or 0");
  return { limit, after };
}

/** A page of a user's plants, in order of creation, at one head. */
export interface Listing {
  readonly plants: readonly Plant[];
  /** The `after` of the next page; `undefined` on the last page. */
  readonly next: number | undefined;
  /** Identifies the list: it changes with every change of the list, and no other list of this user has it. */
  readonly head: Head;
}

/** The page of a list that a query selects. The compiler refuses a member of the query that is not used here. */
function pageOf(list: PlantList, { limit, after, ...unused }: Required<ListQuery>): Page {
  unused satisfies Record<string, never>;
  return list.page(limit, after);
}

/** What a query selects from a list. Only valid until the list changes. */
export class Selection {
  /** Without a limit that truncates nothing: equal for queries that select the same page. */
  readonly query: Required<ListQuery>;

  constructor(
    private readonly list: PlantList,
    query: Required<ListQuery>,
    readonly head: Head,
  ) {
    this.query = query.limit < list.size ? query : { ...query, limit: Infinity };
  }

  page(): Page {
    return pageOf(this.list, this.query);
  }

  listing(): Listing {
    const { plants, next } = this.page();
    return { plants, next, head: this.head };
  }
}
