/** The usual Koa stack: router, koa-bodyparser, ajv. `plants` stores the plants. */
import { createServer } from 'node:http';
import Router from '@koa/router';
import Ajv from 'ajv';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { type NewPlant, type Plant, newPlantSchema, serve } from './shared';

export interface Plants {
  list(): Plant[] | Promise<Plant[]>;
  /** Whether the id was free. */
  create(plant: NewPlant): boolean | Promise<boolean>;
  /** Whether it existed. */
  delete(id: number): boolean | Promise<boolean>;
}

export function serveKoa(plants: Plants): void {
  const isNewPlant = new Ajv().compile(newPlantSchema);
  const router = new Router();
  router.get('/plants', async (context) => {
    context.body = await plants.list();
  });
  router.post('/plants', async (context) => {
    const body = context.request.body;
    if (!isNewPlant(body)) return context.throw(400, 'not a new plant');
    const { id, name, tag } = body as unknown as Required<NewPlant>;
    if (!(await plants.create({ id, name, tag }))) return context.throw(400, 'the id is taken');
    context.body = { name, tag };
  });
  router.delete('/plants/:id', async (context) => {
    if (!(await plants.delete(Number(context.params['id'])))) return context.throw(404, 'no such plant');
    context.status = 204;
  });
  const app = new Koa();
  app.use(bodyParser({ enableTypes: ['json'] })).use(router.routes());
  serve(createServer(app.callback()));
}
