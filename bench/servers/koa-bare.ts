/** A minimal Koa server: the same as `bare`, in one middleware. */
import { createServer } from 'node:http';
import Koa from 'koa';
import { LIST, type NewPlant, readJson, serve } from './shared';

const app = new Koa();
app.use(async (context) => {
  if (context.method === 'GET') {
    context.type = 'json';
    context.body = LIST;
  } else if (context.method === 'DELETE') {
    context.status = 204;
  } else {
    const { name, tag } = (await readJson(context.req)) as NewPlant;
    context.body = { name, tag };
  }
});
serve(createServer(app.callback()));
