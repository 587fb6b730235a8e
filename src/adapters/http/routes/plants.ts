import { Readable } from 'node:stream';
import { type PlantStore, WHOLE_LIST } from '../../../application';
import { parsePlantId } from '../../../domain';
import { type BodyReader, hasBody, requireJson } from '../body';
import { evaluateConditions, requireNoTags } from '../conditions';
import { type Context, sendJson, varyBy, whileConnected } from '../context';
import type { Routes } from '../middleware/route';
import { parseNewPlant } from '../new-plant';
import { type Pages, entityTag } from '../pages';
import { HttpFailure, FAILURES, REJECTIONS } from '../failures';
import { formatQuery, parseQuery } from '../query';
import type { FairScheduler } from '../turns';

const LONG_BODY = 8 * 1024;

export function plantRoutes(
  plants: PlantStore,
  pages: Pages,
  readBody: BodyReader,
  scheduler: FairScheduler,
): Routes<'/plants' | '/plants/{id}'> {
  async function list(ctx: Context): Promise<void> {
    const { user } = ctx.state;
    const { limit, after } = parseQuery(ctx.querystring);
    const listing = await plants.list(user, { limit, after }, whileConnected(ctx));
    const { next } = listing.page;
    const etag = entityTag(listing.head);
    const isKnown = evaluateConditions(ctx, etag);
    // All queries whose limit cuts nothing off have the same page, so they share its cached text.
    const query = formatQuery({ limit: next === undefined ? WHOLE_LIST.limit : limit, after });
    const body = isKnown ? undefined : await pages.body(user, query, listing);
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
    // chunks.
    if (body instanceof Readable && ctx.method !== 'HEAD')
      body.once('close', () => body.readableEnded || ctx.req.socket.resetAndDestroy());
  }

  async function create(ctx: Context): Promise<void> {
    requireNoTags(ctx);
    requireJson(ctx);
    const body = await readBody(ctx);
    const plant =
      body.length < LONG_BODY
        ? parseNewPlant(body)
        : await scheduler.do(ctx.state.user, () => parseNewPlant(body));
    const { rejection } = await plants.create(ctx.state.user, plant, whileConnected(ctx));
    if (rejection) {
      const isCondition = ctx.req.headers['if-none-match'] !== undefined;
      throw isCondition ? new HttpFailure(FAILURES.preconditionFailed) : REJECTIONS[rejection];
    }
    sendJson(ctx, JSON.stringify(plant.plant));
  }

  async function remove(ctx: Context, sentId: string): Promise<void> {
    requireNoTags(ctx);
    // `If-None-Match: *` can never hold: it asks that the plant not exist.
    if (ctx.req.headers['if-none-match'] !== undefined)
      throw new HttpFailure(FAILURES.preconditionFailed);
    // The body is read and then ignored, because a malformed request must not be executed.
    if (hasBody(ctx)) await readBody(ctx);
    const id = parsePlantId(sentId);
    if (id === undefined) throw new HttpFailure(FAILURES.badPathId);
    const { rejection } = await plants.delete(ctx.state.user, id, whileConnected(ctx));
    if (rejection) throw REJECTIONS[rejection];
    ctx.status = 204;
  }

  return { '/plants': { get: list, post: create }, '/plants/{id}': { delete: remove } };
}
