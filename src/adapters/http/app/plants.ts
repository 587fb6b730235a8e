/** The three operations on plants, and the validation of a new one. */
import type Router from '@koa/router';
import { Ajv, type ErrorObject } from 'ajv';
import type { PlantStore, User } from '../../../application';
import {
  MEMBERS,
  MEMBER_NAMES,
  NewPlant,
  type PlantId,
  canonicalInteger,
  parsePlantId,
  ruleOf,
} from '../../../domain';
import { dropBody, jsonReader } from './body';
import { JsonNumber } from './json';
import { parseQuery } from '../lists/list-query';
import type { ListPage, Lists } from '../lists/lists';
import type { LongListReader } from '../lists/long-lists';
import { type NewPlantBody, NewPlant as published } from '../openapi/schemas';
import { HttpProblem, PROBLEMS, rejected } from './problems';
import type { ReceivedBodies } from './received-bodies';
import { mountPathOf } from './request';
import { isKnown, isNotModified, json, vary } from './response';
import { type Context, type State, newRouter } from './koa';

export interface PlantsOptions {
  readonly plants: PlantStore;
  readonly lists: Lists;
  readonly bodies: ReceivedBodies;
  /** Bytes. */
  readonly bodyLimit: number;
  /** Maximum time from the start of a list request to its response, in milliseconds. */
  readonly storeTimeoutMs: number;
}

/** The routes under `/plants`. They come after `users`, so each request has a user. */
export function plantsRouter({
  plants,
  lists,
  bodies,
  bodyLimit,
  storeTimeoutMs,
}: PlantsOptions): Router<State> {
  const readJson = jsonReader(bodyLimit, bodies);
  const router = newRouter();

  router.get('/plants', async (ctx) => {
    const [user, query] = [userOf(ctx), parseQuery(ctx.request.querystring)];
    const deadline = performance.now() + storeTimeoutMs;
    const page = await plants.query(
      user,
      lists.page(user, query, ctx.res, (etag) => isKnown(ctx, etag)),
    );
    if (page.reader !== undefined) {
      await sendLong(ctx, page, page.reader, deadline);
      return;
    }
    setListFields(ctx, page);
    if (isNotModified(ctx, page.etag)) return;
    json(ctx, page.text!);
    lists.count(user, page.text!, ctx.res);
  });

  router.post('/plants', async (ctx) => {
    const plant = newPlantFrom(await readJson(ctx));
    const { rejection } = await plants.create(userOf(ctx), plant);
    if (rejection) throw rejected(rejection);
    json(ctx, JSON.stringify(plant.members));
  });

  router.delete('/plants/:id', async (ctx) => {
    await dropBody(ctx, bodyLimit);
    // The id as sent: `params` would decode %31 to 1.
    const { rejection } = await plants.delete(userOf(ctx), idFrom(ctx.captures![0]!));
    if (rejection) throw rejected(rejection);
    ctx.status = 204;
  });

  return router;
}

function userOf(ctx: Context): User {
  return ctx.state.user!;
}

function idFrom(text: string): PlantId {
  const id = parsePlantId(text);
  if (id === undefined) throw new HttpProblem(PROBLEMS.badPathId);
  return id;
}

/** @param deadline of `performance.now()`. */
async function sendLong(
  ctx: Context,
  page: ListPage,
  reader: LongListReader,
  deadline: number,
): Promise<void> {
  const length = await reader.length(deadline - performance.now());
  setListFields(ctx, page);
  if (ctx.method === 'HEAD') {
    ctx.status = 200;
    json(ctx, '');
  } else json(ctx, reader.body());
  ctx.length = length;
}

function setListFields(ctx: Context, { etag, next }: ListPage): void {
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.set('ETag', etag);
  vary(ctx, 'Authorization');
  if (next !== undefined) ctx.set('Link', `<${mountPathOf(ctx)}/plants?${next}>; rel="next"`);
}

/** A NewPlant as `parseJson` returns it. */
interface ExactNewPlant extends Omit<NewPlantBody, 'id'> {
  readonly id: JsonNumber;
}

const ajv = new Ajv({ strict: true })
  .addKeyword({ keyword: 'number', validate: (_: unknown, value: unknown) => value instanceof JsonNumber })
  .addKeyword({
    keyword: 'wellFormed',
    type: 'string',
    validate: (_: unknown, text: string) => text.isWellFormed(),
  });

const isNewPlant = ajv.compile<ExactNewPlant>({
  ...published,
  properties: Object.fromEntries(
    Object.entries(published.properties).map(([name, rule]) => [name, exact(rule)]),
  ),
});

/** The published rule of a member, for values of `parseJson`: numbers are exact, and strings may be ill-formed. */
function exact(rule: { readonly type: string; readonly format?: string }): object {
  // `NewPlant.from` checks the range.
  if (rule.format === 'int64') return { number: true };
  return rule.type === 'string' ? { ...rule, wellFormed: true } : rule;
}

const RULES: Readonly<Record<string, string>> = {
  '': 'the body must be a JSON object',
  '/id': 'id must be an integer from -2^63 to 2^63-1, as a JSON number',
  ...Object.fromEntries(
    MEMBER_NAMES.map((name) => [
      `/${name}`,
      `${name}${MEMBERS[name].optional ? ', where given,' : ''} must be ${ruleOf(name)}`,
    ]),
  ),
};

/** Makes a NewPlant from a JSON value, and ignores members that a plant does not have. Throws {@link HttpProblem} that names member and rule. */
export function newPlantFrom(value: unknown): NewPlant {
  // For ajv, a JsonNumber is an object.
  if (value instanceof JsonNumber) throw new HttpProblem(PROBLEMS.invalidPlant, RULES['']);
  if (!isNewPlant(value)) throw new HttpProblem(PROBLEMS.invalidPlant, rule(isNewPlant.errors![0]!));
  const plant = NewPlant.from({ ...value, id: canonicalInteger(value.id.literal) });
  // The schema has checked everything except the id.
  if (plant === undefined) throw new HttpProblem(PROBLEMS.invalidPlant, RULES['/id']);
  return plant;
}

function rule(error: ErrorObject): string {
  const missing = (error.params as { missingProperty?: string }).missingProperty;
  return missing === undefined
    ? RULES[error.instancePath]!
    : `${missing} is required: ${RULES[`/${missing}`]!}`;
}
