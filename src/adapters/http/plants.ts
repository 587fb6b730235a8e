/** The three operations on plants. */
import type Router from '@koa/router';
import type { PlantStore, User } from '../../application';
import { type PlantId, parsePlantId } from '../../domain';
import { dropBody, jsonReader } from './body';
import { parseQuery } from './list-query';
import { type ListPage, type Lists, abandonmentOf } from './lists';
import { newPlantFrom } from './new-plant';
import { HttpProblem, PROBLEMS, rejected } from './problems';
import { mountPathOf } from './request';
import { isNotModified, json, vary } from './response';
import { type Context, type State, newRouter } from './routes';

export interface PlantsOptions {
  readonly plants: PlantStore;
  readonly lists: Lists;
  /** Bytes. */
  readonly bodyLimit: number;
  /** Maximum time from the start of a list request to its response, in milliseconds. */
  readonly storeTimeoutMs: number;
}

/** The routes under `/plants`. They come after `users`, so each request has a user. */
export function plantsRouter({ plants, lists, bodyLimit, storeTimeoutMs }: PlantsOptions): Router<State> {
  const readJson = jsonReader(bodyLimit);
  const router = newRouter();

  router.get('/plants', async (ctx) => {
    const [user, query] = [userOf(ctx), parseQuery(ctx.request.querystring)];
    const release = lists.admit(user, query);
    try {
      const deadline = performance.now() + storeTimeoutMs;
      const abandonment = () => abandonmentOf(ctx.res, deadline);
      const page = await plants.query(user, lists.page(user, query));
      const known = isNotModified(ctx, page.etag);
      const text = known ? undefined : (page.text ?? (await lists.text(page, abandonment)));
      // After the text, because without it the response is not a list.
      setListFields(ctx, page);
      if (text !== undefined) json(ctx, text);
    } finally {
      release?.();
    }
  });

  router.post('/plants', async (ctx) => {
    const plant = newPlantFrom(await readJson(ctx));
    const { rejection } = await plants.create(userOf(ctx), plant);
    if (rejection) throw rejected(rejection);
    json(ctx, JSON.stringify({ name: plant.name, tag: plant.tag }));
  });

  router.delete('/plants/:id', async (ctx) => {
    await dropBody(ctx, bodyLimit);
    // The id as sent: `params` would decode %31 to 1.
    const { rejection } = await plants.delete(userOf(ctx), idFrom(ctx.captures![0]!));
    if (rejection) throw rejected(rejection);
    ctx.status = 204;
  });

  return router;
}

function userOf(ctx: Context): User {
  return ctx.state.user!;
}

function idFrom(text: string): PlantId {
  const id = parsePlantId(text);
  if (id === undefined) throw new HttpProblem(PROBLEMS.badPathId);
  return id;
}

function setListFields(ctx: Context, { etag, next }: ListPage): void {
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.set('ETag', etag);
  vary(ctx, 'Authorization');
  if (next !== undefined) ctx.set('Link', `<${mountPathOf(ctx)}/plants?${next}>; rel="next"`);
}
