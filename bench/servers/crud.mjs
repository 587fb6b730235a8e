// What one would write by hand instead: Koa, ajv, and a hash in Redis for each user, with a log
// line a request by pino. It has no history and no read barrier, and loses exact ids.
import Router from '@koa/router';
import { Ajv } from 'ajv';
import { Redis } from 'ioredis';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { pino } from 'pino';

const redis = new Redis(process.env.REDIS_URL, { enableAutoPipelining: true });
const users = new Map(process.env.AUTH_TOKENS.split(',').map((pair) => pair.split(':').reverse()));
const isNewPlant = new Ajv().compile({
  type: 'object',
  required: ['id', 'name'],
  properties: {
    id: { type: 'integer' },
    name: { type: 'string', minLength: 1 },
    tag: { type: 'string' },
  },
});
const log = pino();

const router = new Router()
  .get('/plants', async (ctx) => {
    ctx.type = 'application/json';
    ctx.body = `[${(await redis.hvals(ctx.state.key)).join(',')}]`;
  })
  .post('/plants', bodyParser({ enableTypes: ['json'] }), async (ctx) => {
    const { id, name, tag } = ctx.request.body;
    if (!isNewPlant(ctx.request.body)) return fail(ctx, 400, 'the body is not a NewPlant');
    const text = JSON.stringify({ name, tag });
    if (!(await redis.hsetnx(ctx.state.key, String(id), text)))
      return fail(ctx, 400, 'the id is taken');
    ctx.type = 'application/json';
    ctx.body = text;
  })
  .delete('/plants/:id', async (ctx) => {
    if (!(await redis.hdel(ctx.state.key, ctx.params.id)))
      return fail(ctx, 404, 'there is no such plant');
    ctx.status = 204;
  });

function fail(ctx, status, message) {
  ctx.status = status;
  ctx.body = { error: status * 100, message };
}

new Koa()
  .use(async (ctx, next) => {
    const start = performance.now();
    await next();
    const { method, path, status, state } = ctx;
    log.info(
      { method, path, status, durationMs: performance.now() - start, user: state.user },
      'request',
    );
  })
  .use((ctx, next) => {
    const user = users.get(ctx.get('Authorization').slice('Bearer '.length));
    if (user === undefined) return fail(ctx, 401, 'a bearer token is required');
    Object.assign(ctx.state, { user, key: `crud:${user}` });
    return next();
  })
  .use(router.routes())
  .listen(process.env.PORT, '127.0.0.1');
