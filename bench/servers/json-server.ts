/** json-server with its database in memory and without its extras (log, CORS, compression, static files). */
import { createServer } from 'node:http';
import jsonServer from 'json-server';
import { serve } from './shared';

const app = jsonServer.create();
app.use(jsonServer.router({ plants: [] }));
serve(createServer(app));
