/** Fastify 5, with compiled schemas for requests and responses; the JSON of a list from Redis is sent as it is. */
import { fastify } from 'fastify';
import type { AddressInfo } from 'node:net';
import { openPlants } from './plants';
import { type NewPlant, announce, newPlantSchema, userOf } from './shared';

const plant = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, tag: { type: 'string' } },
} as const;

const plants = openPlants();
const app = fastify();
app.decorateRequest('user', '');
app.addHook('onRequest', (request, reply, done) => {
  const user = userOf(request.headers.authorization);
  if (user === undefined) {
    reply.code(401).send();
    return;
  }
  request.user = user;
  done();
});
app.get(
  '/plants',
  { schema: { response: { 200: { type: 'array', items: plant } } } },
  async ({ user }, reply) => {
    const list = await plants.list(user);
    return reply.type('application/json').send(list);
  },
);
app.post<{ Body: NewPlant }>(
  '/plants',
  { schema: { body: newPlantSchema, response: { 200: plant } } },
  async ({ user, body }, reply) => {
    if (!(await plants.create(user, body))) return reply.code(400).send();
    return body;
  },
);
app.delete<{ Params: { id: string } }>('/plants/:id', async ({ user, params }, reply) => {
  const deleted = await plants.delete(user, Number(params.id));
  return reply.code(deleted ? 204 : 404).send();
});
void app.listen({ port: 0, host: '127.0.0.1' }).then(() => {
  announce((app.server.address() as AddressInfo).port);
});

declare module 'fastify' {
  interface FastifyRequest {
    user: string;
  }
}
