/** The same responses as `bare`, with Koa, its router and body parser, and the header fields of plant-store. */
import { createServer } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { LIST, type NewPlant, serve } from './shared';

const router = new Router();
router.get('/plants', (context) => {
  context.set('Cache-Control', 'private, no-cache');
  context.set('ETag', '"1-2026-11-22T12:00:00.000Z-0123456789abcdef"');
  context.set('Vary', 'Authorization');
  context.type = 'json';
  context.body = LIST;
});
router.post('/plants', bodyParser({ enableTypes: ['json'] }), (context) => {
  const { name, tag } = context.request.body as NewPlant;
  context.set('Cache-Control', 'no-store');
  context.body = { name, tag };
});
router.delete('/plants/:id', (context) => {
  context.set('Cache-Control', 'no-store');
  context.status = 204;
});

const app = new Koa();
app.use(async (context, next) => {
  context.set('X-Request-Id', '0f312f75-fd75-4568-9722-9eeb322be2bf');
  context.set('X-Content-Type-Options', 'nosniff');
  await next();
});
app.use(router.routes());
serve(createServer(app.callback()));
