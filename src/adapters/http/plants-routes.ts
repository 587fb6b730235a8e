import type { Middleware } from 'koa';
import type { Authenticator, PlantStore, User } from '../../application';
import { type PlantId, parsePlantId } from '../../domain';
import { type Answer, failure, json, noContent } from './answer';
import { authenticate } from './authentication';
import { jsonReader } from './body';
import { abandonmentOf } from './abandonment';
import type { ListAnswers } from './list-answers';
import { type PageQuery, listQueryFrom } from './list-query';
import { newPlantFrom } from './new-plant';
import { HttpProblem, PROBLEMS } from './problems';
import type { RetryAfter } from './retry-after';
import { type Context, type RequestState, routes } from './routes';
import type { UserAdmission } from './user-admission';
import { dropBody, hasBody } from './whole-body';

export interface PlantsRoutesOptions {
  readonly plants: PlantStore;
  readonly authenticator: Authenticator;
  readonly lists: ListAnswers;
  /** Entered by each request; `admitted` in its state says whether it is to be left again. */
  readonly admission: UserAdmission;
  /** Milliseconds from the start of a list's request to its answer. */
  readonly storeTimeoutMs: number;
  /** Bytes. */
  readonly bodyLimit: number;
  readonly retryAfter: RetryAfter;
}

/** The three operations. Whoever asks for anything under `/plants` has first to say who he is. */
export function plantsRoutes({
  plants,
  authenticator,
  lists,
  admission,
  storeTimeoutMs,
  bodyLimit,
  retryAfter,
}: PlantsRoutesOptions): Middleware<RequestState> {
  const readJson = jsonReader(bodyLimit);

  async function list(ctx: Context, user: User, query: PageQuery): Promise<Answer> {
    const deadline = performance.now() + storeTimeoutMs;
    const state = await plants.query(user, (list, head) => {
      const { stretches, next } = list.page(query.limit, query.after);
      return { stretches, next, head };
    });
    const abandonment = () => abandonmentOf(ctx.res, deadline);
    return lists.answer(user, query, state, ctx.req.headers['if-none-match'], abandonment);
  }

  const operations = routes({
    'GET /plants': (ctx) => {
      const [user, query] = [userOf(ctx), listQueryFrom(ctx.state.query)];
      const leave = lists.admit(user, query);
      const answer = list(ctx, user, query);
      return leave === undefined ? answer : answer.finally(leave);
    },

    'POST /plants': async (ctx) => {
      const plant = newPlantFrom(await readJson(ctx));
      const { rejection } = await plants.create(userOf(ctx), plant);
      if (rejection) return failure(PROBLEMS.idTaken);
      return json(200, JSON.stringify({ name: plant.name, tag: plant.tag }));
    },

    'DELETE /plants/:id': async (ctx) => {
      if (hasBody(ctx.req)) await dropBody(ctx, bodyLimit);
      const { rejection } = await plants.delete(userOf(ctx), pathId(ctx));
      return rejection ? failure(PROBLEMS.noSuchPlant) : noContent();
    },
  });

  return (ctx, next) => {
    // Paths are exact and case-sensitive, so this is all of `/plants…` and nothing else.
    const { path } = ctx.state;
    if (path !== '/plants' && !path.startsWith('/plants/')) return next() as unknown;
    const operate = (user: User) => {
      ctx.state.user = user;
      ctx.state.admitted = admission.enter(user);
      if (!ctx.state.admitted) return failure(PROBLEMS.tooManyRequests, undefined, retryAfter());
      return operations(ctx, next) as unknown;
    };
    const user = authenticate(authenticator, ctx.req.headers.authorization);
    return typeof user === 'string' ? operate(user) : user.then(operate);
  };
}

function userOf(ctx: Context): User {
  return ctx.state.user!;
}

/** From the path as it was sent: the router would decode `%31` to 1. */
function pathId(ctx: Context): PlantId {
  const id = parsePlantId(ctx.state.path.slice('/plants/'.length));
  if (id === undefined) throw new HttpProblem(PROBLEMS.badPathId);
  return id;
}
