import { Ajv2020 } from 'ajv/dist/2020';
import { expect } from 'chai';
import fc from 'fast-check';
import { newPlantOf } from '../../../src/adapters/http/new-plant';
import { openApi } from '../../../src/adapters/http/openapi';
import { HttpProblem, PROBLEMS, statusOf } from '../../../src/adapters/http/problems';
import { allMembers } from '../../domain/arbitraries';

/** Parts of the document that need a description. */
const DESCRIBED = [
  /^\/info$/,
  /^\/tags\/\d+$/,
  /\/parameters\/\d+$/,
  /\/requestBody$/,
  /\/responses\/\w+$/,
  /^\/components\/securitySchemes\/[\w-]+$/,
];

describe('The OpenAPI document', () => {
  it('has OpenAPI version 3.1 and interface version 1.0.0', () => {
    expect(openApi.openapi).to.match(/^3\.1\.\d$/);
    expect(openApi.info.version).to.equal('1.0.0');
  });

  it('has every failure of the catalogue with its number and message, at its status', () => {
    const others = openApi['x-other-requests'];
    const documented = [...Object.values(openApi.components.responses), others.responses[405]];
    for (const problem of Object.values(PROBLEMS)) {
      const told = JSON.stringify(`${problem.error}: ${problem.message}.`).slice(1, -1);
      expect(
        documented.filter((response) => JSON.stringify(response).includes(told)),
        told,
      ).to.have.length(1);
      expect(JSON.stringify([openApi.paths, others])).to.contain(`"${statusOf(problem)}"`);
    }
  });

  it('has nothing beside a $ref, and a description of every part: generators of clients would ignore it', () => {
    const objects = objectsIn(openApi);
    for (const [at, node] of objects)
      if ('$ref' in node) expect(Object.keys(node), at).to.deep.equal(['$ref']);
    for (const pattern of DESCRIBED) {
      const parts = objects.filter(([at, node]) => pattern.test(at) && !('$ref' in node));
      expect(parts, String(pattern)).to.not.be.empty;
      for (const [at, { description }] of parts) expect(description, at).to.match(/^[^]+[.]$/);
    }
    for (const name of Object.keys(openApi.components.schemas)) expect(globalThis).to.not.have.property(name);
  });

  it('accepts the same NewPlants as the service', () => {
    // As JSON.parse returns it. It returns -2^63 as a number below it.
    const int64 = {
      type: 'number',
      validate: (value: number) => value > -(2 ** 63) && value < 2 ** 63,
    } as const;
    const isNewPlant = new Ajv2020({ strict: false, formats: { int64 } }).compile(
      openApi.components.schemas.NewPlant,
    );
    const odd = fc.constantFrom(7, -0, 2 ** 63, -(2 ** 63), 1e30, -1e30, null, '7');
    const almost = fc.record(
      {
        id: fc.oneof(fc.integer(), fc.double(), odd),
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
});

function takes(sent: string): boolean {
  try {
    newPlantOf(Buffer.from(sent));
    return true;
  } catch (error) {
    if (error instanceof HttpProblem && error.problem === PROBLEMS.invalidBody) return false;
    throw error;
  }
}

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
