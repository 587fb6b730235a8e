/** The usual Koa stack: router, koa-bodyparser, ajv. */
import { createServer } from 'node:http';
import Router from '@koa/router';
import Ajv from 'ajv';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { openPlants } from './plants';
import { type NewPlant, newPlantSchema, serve, userOf } from './shared';

const plants = openPlants();
const isNewPlant = new Ajv().compile<NewPlant>(newPlantSchema);
const router = new Router<{ user: string }>();
router.get('/plants', async (context) => {
  context.type = 'json';
  context.body = await plants.list(context.state.user);
});
router.post('/plants', async (context) => {
  const { body } = context.request;
  if (!isNewPlant(body)) return context.throw(400, 'not a new plant');
  if (!(await plants.create(context.state.user, body))) return context.throw(400, 'the id is taken');
  context.body = { name: body.name, tag: body.tag };
});
router.delete('/plants/:id', async (context) => {
  const deleted = await plants.delete(context.state.user, Number(context.params['id']));
  if (!deleted) return context.throw(404, 'no such plant');
  context.status = 204;
});

const app = new Koa();
app.use((context, next) => {
  const user = userOf(context.headers.authorization);
  if (user === undefined) context.throw(401, 'unknown token');
  context.state['user'] = user;
  return next();
});
app.use(bodyParser({ enableTypes: ['json'] })).use(router.routes());
serve(createServer(app.callback()));
