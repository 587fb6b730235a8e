/**
 * Shows the tags of the plants in Redis, and sends events.
 *
 *   REDIS_URL    where the plants are
 *   WEBHOOK_URL  where events are sent to; none by default
 *   DATA         the folder of the databases; the current one by default
 *   PORT         3002 by default
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { openRedisEventStore } from 'plant-store/adapters/redis';
import { TagPage } from './page.js';
import { sendEvents } from './webhook.js';

const { REDIS_URL = 'redis://127.0.0.1:6379', WEBHOOK_URL, DATA = '.', PORT = '3002' } = process.env;
mkdirSync(DATA, { recursive: true });
const store = await openRedisEventStore({ url: REDIS_URL });

const versions = readdirSync(DATA).map((name) => Number(/^tags-(\d+)[.]db$/.exec(name)?.[1] ?? 0));
let version = Math.max(1, ...versions) - 1;
const page = new TagPage(store, () => join(DATA, `tags-${++version}.db`));
process.on('SIGHUP', () => void page.rebuild());

if (WEBHOOK_URL !== undefined) sendEvents(store, WEBHOOK_URL);
createServer(page.answer).listen(Number(PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${PORT}/`));
