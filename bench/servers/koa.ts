/** The usual Koa stack on a Map. */
import { serveKoa } from './koa-app';
import { PlantMap } from './map';

serveKoa(new PlantMap());
