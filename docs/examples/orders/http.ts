/** Orders over HTTP, by Fastify. Every request may be sent again: it says what shall be the case. */
import fastify from 'fastify';
import { system } from 'plant-store/adapters/system';
import {
  Aggregates,
  OutcomeUnknown,
  STREAM_NAME_RULE,
  StoreUnavailable,
  parseStreamName,
} from 'plant-store/event-sourcing';
import { type Line, type OrderCommand, orderDecider } from './order.js';
import { codec, openStore, orderCodec } from './store.js';

const whole = { type: 'integer', minimum: 1 };
const line = {
  type: 'object',
  properties: { article: { type: 'string' }, quantity: whole, price: whole },
  required: ['article', 'quantity', 'price'],
  additionalProperties: false,
};
const lines = { type: 'array', items: line, minItems: 1 };
const payment = { type: 'object', properties: { amount: whole }, required: ['amount'] };

type WithId<Body = unknown> = { Params: { id: string }; Body: Body };

export async function openApp(keyPrefix: string) {
  const { store, snapshots, close } = await openStore(keyPrefix);
  const orders = new Aggregates(orderDecider, {
    ...system(),
    store,
    codec,
    snapshots: snapshots && { store: snapshots, codec: orderCodec },
  });
  // Without coercion, "1" is not a number, and an unknown member is refused.
  const app = fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false } } });
  app.addHook('onClose', async () => close?.());

  const find = (id: string) => orders.query(streamOf(id), (order) => order);
  /** The order after the command. */
  async function execute(id: string, command: OrderCommand) {
    const { rejection } = await orders.execute(streamOf(id), command);
    if (rejection) throw httpError(rejection.startsWith('order-') ? 409 : 422, rejection);
    return find(id);
  }

  app.get<WithId>('/orders/:id', ({ params }) => find(params.id));
  app.put<WithId<Line[]>>('/orders/:id', { schema: { body: lines } }, ({ params, body }) =>
    execute(params.id, { type: 'PlaceOrder', lines: body }),
  );
  app.put<WithId<{ amount: number }>>(
    '/orders/:id/payment',
    { schema: { body: payment } },
    ({ params, body }) => execute(params.id, { type: 'PayOrder', amount: body.amount }),
  );
  app.delete<WithId>('/orders/:id', ({ params }) => execute(params.id, { type: 'CancelOrder' }));

  app.setErrorHandler<Error & { statusCode?: number }>((error, _, reply) => {
    const isFault = error instanceof StoreUnavailable || error instanceof OutcomeUnknown;
    const status = isFault ? 503 : (error.statusCode ?? 500);
    if (isFault) void reply.header('Retry-After', 1);
    return reply.code(status).send({ error: status === 500 ? 'internal error' : error.message });
  });
  return app;
}

function streamOf(id: string) {
  const stream = parseStreamName(id);
  if (stream === undefined) throw httpError(400, `the id must be ${STREAM_NAME_RULE}`);
  return stream;
}

function httpError(statusCode: number, message: string) {
  return Object.assign(new Error(message), { statusCode });
}
