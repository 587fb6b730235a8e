/** Requests of a few users and restarts of the service, in any order: each is compared with the specification. */
import { expect } from 'chai';
import fc from 'fast-check';
import { anyPlant } from '../../domain/arbitraries';
import { type HttpClient, type HttpRequest, type HttpResponse, nextPage } from '../../support/client';
import { PlantsOracle } from '../../support/plants-oracle';
import * as specification from './specification';
import type { Outcome, ExpectedResponse } from './specification';

export const USERS = ['ada', 'bob'] as const;
export type User = (typeof USERS)[number];

/** The model: the plants of each user. */
export type Model = Record<User, PlantsOracle>;

/** A user's client, and what it remembers. */
export interface Visitor {
  readonly client: HttpClient;
  /** By path: the list that had this entity tag. */
  readonly tags: Map<string, { readonly etag: string; readonly plants: PlantsOracle }>;
  /** The last cursor that the service sent, as the service wrote it and in the model. */
  cursor: { readonly text: string; readonly place: number } | undefined;
}

export interface TestedService extends Readonly<Record<User, Visitor>> {
  /** Ends an instance without a warning, and starts another one. */
  restart(): Promise<void>;
  /** Whether a restart loses all plants. */
  readonly forgets: boolean;
}

type ModelCommand = fc.AsyncCommand<Model, TestedService>;

const anyUser = fc.constantFrom(...USERS);

/** Few ids, so that most requests meet a plant, and those that a JavaScript number cannot tell from another. */
const IDS = ['0', '1', '-9223372036854775808', '9007199254740992', '9007199254740993'] as const;
const anyId = fc.constantFrom(...IDS);

/** Other JSON numbers with the value of an id. */
const OTHER_FORMS = new Map([
  ['0', '-0'],
  ['1', '10e-1'],
  ['9007199254740993', '9007199254740993.0'],
]);

const LIMITS = [undefined, '0', '1', '2', '003', '1000000000000000000000'] as const;

/** Requests that change nothing, and their errors. The id 1 is sometimes taken. */
const REFUSED: readonly (readonly [
  error: number,
  line: string,
  body?: string | undefined,
  headers?: object,
])[] = [
  [40001, 'POST /plants', '{"id":1,"name":"Fern"'],
  [40001, 'POST /plants', '{"id":1,"name":"Fern","name":"Moss"}'],
  [40002, 'POST /plants', '[]'],
  [40002, 'POST /plants', '{"id":1}'],
  [40002, 'POST /plants', '{"name":"Fern"}'],
  [40002, 'POST /plants', '{"id":1,"name":""}'],
  [40002, 'POST /plants', '{"id":1,"name":"Fern","tag":null}'],
  [40002, 'POST /plants', '{"id":"1","name":"Fern"}'],
  [40002, 'POST /plants', '{"id":1.5,"name":"Fern"}'],
  [40002, 'POST /plants', '{"id":9223372036854775808,"name":"Fern"}'],
  [41500, 'POST /plants', '{"id":1,"name":"Fern"}', { 'Content-Type': 'text/plain' }],
  [40004, 'GET /plants?limit=-1'],
  [40004, 'GET /plants?limit=1&limit=1'],
  [40004, 'GET /plants?cursor=1'],
  [40005, 'DELETE /plants/01'],
  [40005, 'DELETE /plants/9223372036854775808'],
  [40100, 'DELETE /plants/1', undefined, { Authorization: '' }],
  [40101, 'DELETE /plants/1', undefined, { Authorization: 'Bearer x' }],
  [40400, 'DELETE /plants/1/'],
  [40500, 'PUT /plants/1'],
];

const creation = fc
  .tuple(anyUser, anyId, fc.boolean(), anyPlant, fc.integer({ min: 1, max: 2 }))
  .map(([user, id, otherForm, members, times]) => {
    const body = JSON.stringify(members).replace('{', `{"id":${(otherForm && OTHER_FORMS.get(id)) || id},`);
    return command(`${user}: POST ${body}${times === 2 ? ', twice' : ''}`, async (model, service) => {
      for (let time = 0; time < times; time++)
        apply(
          model,
          user,
          specification.create(model[user], id, members),
          await service[user].client.post(body),
        );
    });
  });

const deletion = fc.tuple(anyUser, anyId).map(([user, id]) =>
  command(`${user}: DELETE ${id}`, async (model, service) => {
    apply(model, user, specification.remove(model[user], id), await service[user].client.delete(id));
  }),
);

const refusal = fc.tuple(anyUser, fc.constantFrom(...REFUSED)).map(([user, refused]) => {
  const [error, line, body, headers] = refused;
  const [method, path] = line.split(' ') as [string, string];
  const request = { method, path, headers: { 'Content-Type': 'application/json', ...headers } };
  return command(`${user}: ${line} ${body ?? ''}`, async (_, service) => {
    const response = await service[user].client.send(body === undefined ? request : { ...request, body });
    expectResponse(response, { status: Math.floor(error / 100), error });
  });
});

interface ListRequest {
  readonly user: User;
  readonly method: 'GET' | 'HEAD';
  readonly limit: (typeof LIMITS)[number];
  /** Continues after the last page that had a link, if there is one. */
  readonly next: boolean;
  /** Sends the last entity tag of this page, if there is one. */
  readonly ifChanged: boolean;
}

const listing = fc
  .record<ListRequest>({
    user: anyUser,
    method: fc.constantFrom('GET', 'HEAD'),
    limit: fc.constantFrom(...LIMITS),
    next: fc.boolean(),
    ifChanged: fc.boolean(),
  })
  .map((asked) => {
    const { user, method, limit, next, ifChanged } = asked;
    const parts = [
      `${user}: ${method} /plants`,
      limit && `limit=${limit}`,
      next && 'the next page',
      ifChanged && 'if changed',
    ];
    return command(parts.filter(Boolean).join(', '), (model, service) => compareList(model, service, asked));
  });

async function compareList(model: Model, service: TestedService, listing: ListRequest): Promise<void> {
  const { user, method, limit, next, ifChanged } = listing;
  const [plants, visitor] = [model[user], service[user]];
  const cursor = next ? visitor.cursor : undefined;
  const query = [limit && `limit=${limit}`, cursor && `cursor=${cursor.text}`].filter(Boolean).join('&');
  const path = query === '' ? '/plants' : `/plants?${query}`;
  const known = visitor.tags.get(path);
  const headers: HttpRequest['headers'] = known && ifChanged ? { 'If-None-Match': known.etag } : {};

  const response = await visitor.client.send({ method, path, headers });

  const { text, next: place } = specification.list(plants, Number(limit ?? Infinity), cursor?.place);
  const isKnown = known?.plants === plants;
  if (ifChanged && isKnown) expectResponse(response, { status: 304, text: '' });
  else {
    expectResponse(response, { status: 200, text: method === 'HEAD' ? '' : text! });
    expect(response.headers['content-length']).to.equal(String(Buffer.byteLength(text!)));
  }
  const etag = response.headers.etag!;
  expect(etag === known?.etag, 'whether the ETag is that of the last list').to.equal(isKnown);
  visitor.tags.set(path, { etag, plants });
  const [, linked, cursorText] =
    /^\/plants\?limit=(\d+)&cursor=([\w-]+)$/.exec(nextPage(response) ?? '') ?? [];
  expect(linked, 'the limit of the link').to.equal(place === undefined ? undefined : String(Number(limit)));
  if (place !== undefined) visitor.cursor = { text: cursorText!, place };
}

const walk = fc.tuple(anyUser, fc.integer({ min: 1, max: 3 })).map(([user, limit]) =>
  command(`${user}: GET /plants, all pages of ${limit}`, async (model, service) => {
    const pages: unknown[][] = [];
    for (let path: string | undefined = `/plants?limit=${limit}`; path !== undefined;) {
      const response = await service[user].client.get(path);
      pages.push(JSON.parse(response.text) as unknown[]);
      path = nextPage(response);
    }
    const all = JSON.parse(specification.list(model[user]).text!) as unknown[];
    expect(pages.flat()).to.deep.equal(all);
    expect(pages).to.have.length(Math.max(1, Math.ceil(all.length / limit)));
  }),
);

const restart = fc.constant(
  command('restart', async (model, service) => {
    await service.restart();
    if (!service.forgets) return;
    for (const user of USERS) {
      model[user] = PlantsOracle.NONE;
      service[user].cursor = undefined;
    }
  }),
);

export const anyCommands = fc.commands(
  [
    fc.oneof(
      { weight: 10, arbitrary: creation },
      { weight: 6, arbitrary: deletion },
      { weight: 12, arbitrary: listing },
      { weight: 2, arbitrary: walk },
      { weight: 2, arbitrary: refusal },
      { weight: 1, arbitrary: restart },
    ),
  ],
  { maxCommands: 60, size: 'max' },
);

/** Compares the lists of all users. */
export async function compareLists(model: Model, service: TestedService): Promise<void> {
  for (const user of USERS)
    await compareList(model, service, {
      user,
      method: 'GET',
      limit: undefined,
      next: false,
      ifChanged: false,
    });
}

function command(text: string, run: (model: Model, service: TestedService) => Promise<void>): ModelCommand {
  return { check: () => true, run, toString: () => text };
}

/** Compares the response, and changes the model. */
function apply(model: Model, user: User, [expected, plants]: Outcome, response: HttpResponse): void {
  expectResponse(response, expected);
  model[user] = plants;
}

function expectResponse(response: HttpResponse, { status, error, text }: ExpectedResponse): void {
  expect(response.status).to.equal(status);
  expect(response.error).to.equal(error);
  if (error === undefined) expect(response.text).to.equal(text);
}
