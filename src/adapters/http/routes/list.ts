import { Readable } from 'node:stream';
import { type PlantStore, WHOLE_LIST } from '../../../application';
import { answerNotModified } from '../conditions';
import { resetOrDestroy, sendJson, userOf, varyBy, whileConnected } from '../context';
import { ifNoneMatch, optionalField, fieldsWithETag, text } from '../openapi-parts';
import type { Endpoint } from '../operation';
import { type Pages, entityTag } from '../pages';
import type { FailureName } from '../failures';
import { formatQuery, parseQuery } from '../query';

export const LIST_PARAMETERS = [
  {
    name: 'limit',
    in: 'query',
    description:
      'The maximum number of plants, in decimal digits, without an upper bound. ' +
      'Without it, the list has all plants.',
    schema: { type: 'integer', minimum: 0 },
  },
  {
    name: 'cursor',
    in: 'query',
    description: 'The start of the page: an opaque text from the `Link` of an earlier response.',
    schema: text,
  },
  ifNoneMatch,
];

export const LIST_FAILURES: readonly FailureName[] = ['badQuery', 'preconditionFailed'];

const headers = {
  ...fieldsWithETag('private, no-cache', 'Authorization'),
  Link: optionalField(
    'If `limit` truncated the list: the URL of the next page, with `rel="next"`.',
    '^<\\?[^ >]+>; rel="next"$',
  ),
};

export const listResponses = (description: string, content: object) => ({
  200: { description, headers, content },
  304: { description: 'The list still has the `ETag` of `If-None-Match`.', headers },
});

export function makeListEndpoint(plants: Pick<PlantStore, 'list'>, pages: Pages): Endpoint {
  return async (ctx) => {
    const user = userOf(ctx);
    const { limit, after } = parseQuery(ctx.querystring);
    const listing = await plants.list(user, { limit, after }, whileConnected(ctx));
    const { next } = listing.page;
    const etag = entityTag(listing.head);
    const isUnchanged = answerNotModified(ctx, etag);
    // All queries whose limit cuts nothing off have the same page, so they share its cached text.
    const query = formatQuery({ limit: next === undefined ? WHOLE_LIST.limit : limit, after });
    const body = isUnchanged ? undefined : await pages.body(user, query, listing);
    ctx.set('Cache-Control', 'private, no-cache');
    ctx.set('ETag', etag);
    varyBy(ctx, 'Authorization');
    // The link is relative, because only the client knows the URL that it has requested: a proxy
    // may have changed the path. With limit=0 there is no link, because the links would never end.
    if (next !== undefined && limit > 0)
      ctx.set('Link', `<?${formatQuery({ limit, after: next })}>; rel="next"`);
    if (body === undefined) return;
    sendJson(ctx, body);
    // A reset shows the client that the list is incomplete, even over HTTP/1.0, which has no
    // chunks. If the response has ended although the list has not, the client got a failure instead,
    // because the rest of its request was refused, and must be able to read that.
    if (body instanceof Readable && ctx.method !== 'HEAD')
      body.once('close', () => {
        if (!body.readableEnded && !ctx.res.writableEnded) resetOrDestroy(ctx.req.socket);
      });
  };
}
