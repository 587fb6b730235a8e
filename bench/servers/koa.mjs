// Koa with router and koa-bodyparser and fixed answers: what the framework costs, without
// authentication, validation, store and log.
import Router from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { LIST } from './list.mjs';

const router = new Router()
  .get('/plants', (ctx) => {
    ctx.type = 'application/json';
    ctx.body = LIST;
  })
  .post('/plants', bodyParser({ enableTypes: ['json'] }), (ctx) => {
    const { name, tag } = ctx.request.body;
    ctx.body = { name, tag };
  })
  .delete('/plants/:id', (ctx) => {
    ctx.status = 204;
  });
new Koa().use(router.routes()).listen(process.env.PORT, '127.0.0.1');
