import { dirname } from 'node:path';
import type Koa from 'koa';
import request from 'supertest';
import { type AppOptions, type RequestReport, createApp } from '../../../src/adapters/http';
import { MemoryEventStore } from '../../../src/adapters/memory';
import { system } from '../../../src/adapters/system';
import { PlantStore, parseUser } from '../../../src/application';
import type { EventStore } from '../../../src/event-sourcing';
import { AUTH } from '../../support/requests';

const ALICE = parseUser('alice')!;
export const BEARER = { Authorization: AUTH.replace(/^Authorization: |\r\n$/g, '') };

/** The app on a memory store, where every token speaks for one user, with its reports. */
export function appWith(options: Partial<AppOptions> = {}, store: EventStore = new MemoryEventStore()) {
  const reports: RequestReport[] = [];
  const swaggerUi = dirname(require.resolve('swagger-ui-dist/package.json'));
  const app = createApp({
    plants: new PlantStore({ ...system(), store }),
    authenticator: { authenticate: () => ALICE },
    swaggerUi,
    report: (each) => reports.push(each),
    ...options,
  });
  return Object.assign(app, { reports });
}

export const get = (app: Koa, path: string) => request(app.callback()).get(path);
export const list = (app: Koa, path = '/plants') => get(app, path).set(BEARER);
export const create = (app: Koa, id: number, name: string, at = '') =>
  request(app.callback()).post(`${at}/plants`).set(BEARER).send({ id, name }).expect(200);
