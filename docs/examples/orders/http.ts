/** Orders over HTTP. Every request may be sent again. */
import Router from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { system } from 'plant-store/adapters/system';
import { Aggregates, type OpenEventStore, StoreFault } from 'plant-store/event-sourcing';
import { type Order, type OrderCommand, linesOf, orderKind } from './order.js';
import { countOrders } from './read-model.js';

export function ordersApp(opened: OpenEventStore) {
  const orders = new Aggregates({ ...system(), store: opened.store });
  const { projection, count } = countOrders(opened);

  /** Answers the order after the command, or why it was rejected. */
  async function execute(ctx: Koa.Context, id: string, command: OrderCommand): Promise<void> {
    const { rejection, value } = await orders.execute(orderKind, id, command, viewOf);
    if (rejection) ctx.status = rejection.startsWith('order-') ? 409 : 422;
    ctx.body = rejection ? { error: rejection } : value;
  }

  const router = new Router()
    .get('/orders', (ctx) => {
      ctx.body = { placed: count('placed'), paid: count('paid') };
    })
    .get('/orders/:id', async (ctx) => {
      ctx.body = await orders.query(orderKind, ctx.params.id!, viewOf);
    })
    .put('/orders/:id', (ctx) => {
      const lines = linesOf(ctx.request.body);
      if (!lines) return ctx.throw(400, 'the body must be a list of lines');
      return execute(ctx, ctx.params.id!, { type: 'PlaceOrder', lines });
    })
    .put('/orders/:id/payment', (ctx) => {
      const { amount } = ctx.request.body as { amount: number };
      return execute(ctx, ctx.params.id!, { type: 'PayOrder', amount });
    });

  const app = new Koa();
  app.use((ctx, next) =>
    next().catch((error: unknown) => {
      if (!(error instanceof StoreFault)) throw error;
      // Nothing was written, or that is unknown: the client repeats the request.
      ctx.status = 503;
      ctx.set('Retry-After', '1');
    }),
  );
  app.use(bodyParser()).use(router.routes());
  return { app, projection };
}

/** A copy: the state itself belongs to the engine, and nothing may change it. */
const viewOf = ({ status, lines }: Order) => ({
  status,
  lines: lines.map((line) => ({ ...line })),
});
