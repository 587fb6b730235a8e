import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020';
import { expect } from 'chai';
import fc from 'fast-check';
import { parseJson } from '../../../../src/application';
import { newPlantFrom } from '../../../../src/adapters/http/app/new-plant';
import type { FailureBody, NewPlantBody } from '../../../../src/adapters/http/openapi/schemas';
import { openApiDocument } from '../../../../src/adapters/http/openapi/document';
import type { Response } from '../../../../src/adapters/http/openapi/parts';
import { HttpProblem, PROBLEMS, statusOf } from '../../../../src/adapters/http/app/problems';
import { allMembers } from '../../../domain/arbitraries';

describe('the OpenAPI document', () => {
  let document: ReturnType<typeof openApiDocument>;
  beforeEach(() => (document = openApiDocument()));

  it('has OpenAPI version 3.1 and interface version 1.0.0', () => {
    expect(document.openapi).to.match(/^3\.1\.\d$/);
    expect(document.info.version).to.equal('1.0.0');
  });

  it('passes a linter for OpenAPI', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const problems = await lintFromString({
      source: JSON.stringify(document),
      absoluteRef: '/openapi.json',
      config,
    });
    expect(
      problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
    ).to.deep.equal([]);
  });

  it('has every failure of the catalogue with status, number and message, and no other', () => {
    const told = responsesIn(document).flatMap(([status, { content }]) =>
      Object.values(content?.['application/json']?.examples ?? {})
        .map(({ value }) => value as FailureBody)
        .filter(({ error }: Partial<FailureBody>) => error !== undefined)
        .map(({ error, message }) => `${status} ${error} ${message}`),
    );
    const catalogue = Object.values(PROBLEMS).map(
      (problem) => `${statusOf(problem)} ${problem.error} ${problem.message}`,
    );
    expect([...new Set(told)]).to.have.members(catalogue);
  });

  it('has an example for each error number of a response, and no other examples', () => {
    for (const [, { content }] of responsesIn(document)) {
      const { schema, examples = {} } = content?.['application/json'] ?? {};
      const [, numbers] = (schema?.['allOf'] ?? []) as { properties: { error: { enum: number[] } } }[];
      if (numbers)
        expect(Object.values(examples).map(({ value }) => (value as FailureBody).error)).to.deep.equal(
          numbers.properties.error.enum,
        );
    }
  });

  const OF_USERS = [40001, 40002, 40004, 40005, 50301];
  for (const [path, method, failures] of [
    ['/plants', 'get', [40004]],
    ['/plants', 'post', [40001, 40002, 50301]],
    ['/plants/{id}', 'delete', [40005, 50301]],
    ['/health/ready', 'get', []],
  ] as const) {
    const isOfUser = path.startsWith('/plants');
    it(`has the tag, the need of a token and the failures of ${method.toUpperCase()} ${path}`, () => {
      const operation = document.paths[path]![method]!;
      expect(document.tags.map(({ name }) => name)).to.include.members(operation.tags);
      expect(operation.tags).to.have.length(1);
      expect(operation.security).to.deep.equal(isOfUser ? undefined : []);
      const own = Object.values(operation.responses)
        .map((response) => JSON.stringify(response))
        .join();
      const shared = Object.entries(document.components.responses).filter(([name]) =>
        own.includes(`/${name}"`),
      );
      const numbers = OF_USERS.filter((number) => `${own}${JSON.stringify(shared)}`.includes(`${number}`));
      expect(numbers).to.deep.equal(failures);
    });
  }

  it('has nothing beside a $ref, which generators of clients would ignore', () => {
    for (const [at, node] of objectsIn(document))
      if ('$ref' in node) expect(Object.keys(node), at).to.deep.equal(['$ref']);
  });

  it('has a description of every tag, operation, parameter, body, response, header field and schema', () => {
    const described = [
      /^\/info$/,
      /^\/tags\/\d+$/,
      /^\/paths\/[^/]+\/[a-z]+$/,
      /\/parameters\/\d+$/,
      /\/requestBody$/,
      /\/responses\/\w+$/,
      /^\/components\/(?:headers|schemas|securitySchemes)\/[\w-]+$/,
      /^\/components\/schemas\/\w+\/properties\/\w+$/,
    ];
    for (const pattern of described) {
      const parts = objectsIn(document).filter(([at, node]) => pattern.test(at) && !('$ref' in node));
      expect(parts, String(pattern)).to.not.be.empty;
      for (const [at, { description }] of parts) expect(description, at).to.match(/^[^]+[.]$/);
    }
  });

  it('has the type of every body in JSON, and the required members of every object', () => {
    const bodies = objectsIn(document)
      .filter(([at]) => /\/application~1json\/schema$|^\/components\/schemas\/\w+$/.test(at))
      .filter(([, schema]) => !('$ref' in schema || 'allOf' in schema));
    for (const [at, { type, properties, required }] of bodies) {
      expect(type, at).to.be.a('string');
      if (properties !== undefined)
        expect([type, Array.isArray(required)], at).to.deep.equal(['object', true]);
    }
  });

  it('has no schema with the name of a global type of JavaScript', () => {
    for (const name of Object.keys(document.components.schemas))
      expect(globalThis).to.not.have.property(name);
  });

  it('accepts the same NewPlants as the service', () => {
    const isNewPlant = new Ajv2020({ strict: false, formats: { int64: isInt64 } }).compile(
      document.components.schemas.NewPlant,
    );
    const almost = fc.record(
      {
        id: fc.oneof(
          fc.integer(),
          fc.double(),
          fc.constantFrom(7, -0, 2 ** 63, -(2 ** 63), 1e30, -1e30, null, '7'),
        ),
        ...allMembers(() => fc.oneof(fc.string(), fc.constantFrom('', '🌿', null, 7, ['Fern']))),
        other: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: almost }, fc.jsonValue()), (value) => {
        const sent = JSON.stringify(value);
        expect(takes(sent), sent).to.equal(isNewPlant(JSON.parse(sent)));
      }),
      { numRuns: 2000 },
    );
  });

  it('has the types of the bodies', () => {
    // The compiler refuses this if the types differ.
    const same: [
      Same<NewPlantBody['id'], number | bigint>,
      Same<FailureBody, { readonly error: number; readonly message: string }>,
    ] = [true, true];
    expect(same).not.to.include(false);
  });
});

/** `[A] extends [B]` in both directions does not detect `readonly` nor an optional member, so the types are `Required`. */
type Same<A, B> = [A, Required<A>] extends [B, Required<B>]
  ? [B, Required<B>] extends [A, Required<A>]
    ? true
    : false
  : false;

function takes(sent: string): boolean {
  try {
    newPlantFrom(parseJson(Buffer.from(sent)));
    return true;
  } catch (error) {
    if (error instanceof HttpProblem && error.problem === PROBLEMS.invalidBody) return false;
    throw error;
  }
}

/** As JSON.parse returns it. It returns -2^63 as a number below it. */
const isInt64 = {
  type: 'number',
  validate: (value: number) => value > -(2 ** 63) && value < 2 ** 63,
} as const;

/** All objects in `node` by JSON pointer, without the examples. */
function objectsIn(node: object, at = ''): [string, Readonly<Record<string, unknown>>][] {
  const members = Object.entries(node).filter(
    ([name, member]) => !/^examples?$/.test(name) && typeof member === 'object' && member !== null,
  );
  const below = members.flatMap(([name, member]) =>
    objectsIn(member as object, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
  return [[at, node as Readonly<Record<string, unknown>>], ...below];
}

/** Every response in the document with its status. A shared response has its status from its example. */
function responsesIn({
  paths,
  components,
  ...document
}: ReturnType<typeof openApiDocument>): [string, Response][] {
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  const listed = [...operations, document['x-options'], document['x-other-requests']].flatMap(
    ({ responses }) => Object.entries(responses),
  );
  return listed.map(([status, response]) => {
    if (!('$ref' in response)) return [status, response];
    return [status, components.responses[response.$ref.replace(/.*\//, '')]!];
  });
}
