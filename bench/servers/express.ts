/** Express 5 on a Map, with ajv. ETag and X-Powered-By are off, because they cost time and are not used here. */
import { createServer } from 'node:http';
import Ajv from 'ajv';
import express from 'express';
import { PlantMap } from './map';
import { type NewPlant, newPlantSchema, serve } from './shared';

const plants = new PlantMap();
const isNewPlant = new Ajv().compile(newPlantSchema);
const app = express();
app.disable('etag').disable('x-powered-by');
app.get('/plants', (_, response) => {
  response.json(plants.list());
});
app.post('/plants', express.json(), (request, response) => {
  const body = request.body as Required<NewPlant>;
  const created = isNewPlant(body) && plants.create(body);
  if (created) response.json({ name: body.name, tag: body.tag });
  else response.status(400).json({ message: 'not a new plant, or its id is taken' });
});
app.delete('/plants/:id', (request, response) => {
  response.status(plants.delete(Number(request.params.id)) ? 204 : 404).end();
});
serve(createServer(app));
