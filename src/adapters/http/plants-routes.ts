import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { PlantStore, User } from '../../application';
import { type PlantId, parsePlantId } from '../../domain';
import { jsonBody } from './body';
import { cursorAfter, listQueryFrom } from './list-query';
import { LongAnswers } from './long-answers';
import { otherMethods } from './methods';
import { newPlantFrom } from './new-plant';
import { HttpProblem, PROBLEMS } from './problems';
import { respondJson } from './respond';
import { noBody } from './whole-body';

export interface PlantsRoutesOptions {
  readonly plants: PlantStore;
  /** Bytes. */
  readonly bodyLimit: number;
}

/** The three operations, and a 405 or 204 with `Allow` for every other method. */
export function plantsRoutes({ plants, bodyLimit }: PlantsRoutesOptions): Middleware {
  const router = new Router({ sensitive: true, strict: true });
  const long = new LongAnswers();

  router.get('/plants', async (ctx: Context) => {
    const user = userOf(ctx);
    const query = listQueryFrom(ctx.querystring);
    const page = await plants.list(user, query);
    // Strong: the commit names one state of this user's list, and the URL one page of it.
    const etag = `"${page.head.version}-${page.head.commit}"`;
    ctx.set('ETag', etag);
    ctx.set('Cache-Control', 'private, no-cache');
    ctx.set('Vary', 'Authorization');
    // With limit=0 a walk along the links would never end.
    if (page.next !== undefined && query.limit > 0) {
      ctx.set('Link', `</plants?limit=${query.limit}&cursor=${cursorAfter(page.next)}>; rel="next"`);
    }
    if (matches(ctx.get('If-None-Match'), etag)) {
      ctx.status = 304;
      return;
    }
    const state = JSON.stringify([user, etag, query.limit, query.after]);
    const text = long.text(ctx.res, state, () => JSON.stringify(page.plants));
    respondJson(ctx, 200, text);
  });

  router.post('/plants', jsonBody(bodyLimit), async (ctx: Context) => {
    const { id, ...plant } = newPlantFrom(ctx.request.body);
    const { rejection } = await plants.create(userOf(ctx), { id, ...plant });
    if (rejection) throw new HttpProblem(PROBLEMS.idTaken);
    respondJson(ctx, 200, JSON.stringify(plant));
  });

  router.delete('/plants/:id', noBody, async (ctx: Context) => {
    const { rejection } = await plants.delete(userOf(ctx), pathId(ctx));
    if (rejection) throw new HttpProblem(PROBLEMS.noSuchPlant);
    ctx.status = 204;
  });

  router.all('/plants', otherMethods('GET, HEAD, POST, OPTIONS'));
  router.all('/plants/:id', otherMethods('DELETE, OPTIONS'));

  return router.routes() as unknown as Middleware;
}

/** RFC 9110, 13.1.2, with its weak comparison. Koa's `fresh` would let a `Cache-Control: no-cache` overrule it. */
function matches(ifNoneMatch: string, etag: string): boolean {
  const listed: readonly string[] | null = ifNoneMatch.match(/"[^"]*"/g);
  return ifNoneMatch.trim() === '*' || (listed !== null && listed.includes(etag));
}

function userOf(ctx: Context): User {
  return (ctx.state as { user: User }).user;
}

/** From the path as it was sent: the router would decode `%31` to 1. */
function pathId(ctx: Context): PlantId {
  const id = parsePlantId(ctx.path.slice('/plants/'.length));
  if (id === undefined) throw new HttpProblem(PROBLEMS.badPathId);
  return id;
}
