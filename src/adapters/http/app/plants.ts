/** The handlers of the operations on plants. */
import type { PlantStore } from '../../../application';
import { type PlantDecision, type PlantId, parsePlantId } from '../../../domain';
import { parseQuery } from '../lists/list-query';
import type { ListPage, Lists } from '../lists/lists';
import type { LongListReader } from '../lists/long-list-reader';
import { PLANT_OPERATIONS, type PlantOperationId } from '../openapi/plant-operations';
import { dropBody, jsonReader } from './body';
import { type Context, type Handlers, pathParameterOf, userOf } from './koa';
import { newPlantFrom } from './new-plant';
import { HttpProblem, PROBLEMS, REJECTIONS } from './problems';
import type { ReceivedBodies } from './received-bodies';
import { mountPathOf } from './request';
import { isKnown, isNotModified, json, vary } from './response';

export interface PlantsOptions {
  readonly plants: PlantStore;
  readonly lists: Lists;
  readonly bodies: ReceivedBodies;
  /** Bytes. */
  readonly bodyLimit: number;
  /** Maximum time from the start of a list request to its response, in milliseconds. */
  readonly storeTimeoutMs: number;
}

/** The handlers come after `users`, so each request has a user. */
export function plantHandlers(options: PlantsOptions): Handlers<PlantOperationId> {
  const { plants, lists, bodies, bodyLimit, storeTimeoutMs } = options;
  const readJson = jsonReader(bodyLimit, bodies);

  return {
    async listPlants(ctx) {
      const user = userOf(ctx);
      const deadline = performance.now() + storeTimeoutMs;
      const page = await plants.list(user, parseQuery(ctx.request.querystring), (selection) =>
        lists.page(user, selection, ctx.res, (etag) => isKnown(ctx, etag)),
      );
      if (page.reader !== undefined) {
        await sendLong(ctx, page, page.reader, deadline);
        return;
      }
      setListFields(ctx, page);
      if (isNotModified(ctx, page.etag)) return;
      json(ctx, page.text!);
      lists.count(user, page.text!, ctx.res);
    },

    async createPlant(ctx) {
      const plant = newPlantFrom(await readJson(ctx));
      requireAccepted(await plants.create(userOf(ctx), plant));
      json(ctx, JSON.stringify(plant.members));
    },

    async deletePlant(ctx) {
      await dropBody(ctx, bodyLimit);
      requireAccepted(await plants.delete(userOf(ctx), idOf(ctx)));
      ctx.status = 204;
    },
  };
}

function idOf(ctx: Context): PlantId {
  const id = parsePlantId(pathParameterOf(ctx));
  if (id === undefined) throw new HttpProblem(PROBLEMS.badPathId);
  return id;
}

function requireAccepted({ rejection }: PlantDecision): void {
  if (rejection) throw REJECTIONS[rejection];
}

/** @param deadline of `performance.now()`. */
async function sendLong(
  ctx: Context,
  page: ListPage,
  reader: LongListReader,
  deadline: number,
): Promise<void> {
  const length = await reader.length(deadline - performance.now());
  setListFields(ctx, page);
  if (ctx.method === 'HEAD') {
    ctx.status = 200;
    json(ctx, '');
  } else json(ctx, reader.body());
  ctx.length = length;
}

function setListFields(ctx: Context, { etag, next }: ListPage): void {
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.set('ETag', etag);
  vary(ctx, 'Authorization');
  if (next === undefined) return;
  ctx.set('Link', `<${mountPathOf(ctx)}${PLANT_OPERATIONS.listPlants.path}?${next}>; rel="next"`);
}
