/** Fastify 5 on a Map, with compiled schemas for requests and responses. */
import { fastify } from 'fastify';
import type { AddressInfo } from 'node:net';
import { PlantMap } from './map';
import { type NewPlant, announce, newPlantSchema } from './shared';

const plant = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, tag: { type: 'string' } },
} as const;

const plants = new PlantMap();
const app = fastify();
app.get('/plants', { schema: { response: { 200: { type: 'array', items: plant } } } }, (_, reply) => {
  reply.send(plants.list());
});
app.post<{ Body: Required<NewPlant> }>(
  '/plants',
  { schema: { body: newPlantSchema, response: { 200: plant } } },
  ({ body }, reply) => {
    if (plants.create(body)) reply.send(body);
    else reply.code(400).send();
  },
);
app.delete<{ Params: { id: string } }>('/plants/:id', ({ params }, reply) => {
  reply.code(plants.delete(Number(params.id)) ? 204 : 404).send();
});
void app.listen({ port: 0, host: '127.0.0.1' }).then(() => {
  announce((app.server.address() as AddressInfo).port);
});
