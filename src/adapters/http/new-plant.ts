import { Ajv, type ErrorObject } from 'ajv';
import { NewPlant } from '../../domain';
import type { NewPlantBody } from './openapi/bodies';
import { NewPlant as published } from './openapi/schemas';
import { HttpProblem, PROBLEMS } from './problems';

/** A NewPlant as `parseJson` returns it: an int64 is a bigint. */
interface ExactNewPlant extends NewPlantBody {
  readonly id: bigint;
}

const ajv = new Ajv({ strict: true })
  .addKeyword({ keyword: 'int64', validate: (_: unknown, value: unknown) => typeof value === 'bigint' })
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

/** The published rule of a member, told of the values that `parseJson` gives: of numbers that are exact, and of strings that JSON lets be ill-formed. */
function exact(rule: { readonly type: string; readonly format?: string }): object {
  if (rule.format === 'int64') return { int64: true };
  return rule.type === 'string' ? { ...rule, wellFormed: true } : rule;
}

const RULES: Readonly<Record<string, string>> = {
  '': 'the body must be a JSON object',
  '/name': 'name must be a string of at least one character, in well-formed Unicode',
  '/id': 'id must be an integer from -2^63 to 2^63-1, as a JSON number',
  '/tag': 'tag, where given, must be a string in well-formed Unicode',
};

/** The NewPlant that a JSON value is; other members are ignored. Throws {@link HttpProblem}, naming member and rule. */
export function newPlantFrom(value: unknown): NewPlant {
  if (!isNewPlant(value)) throw new HttpProblem(PROBLEMS.invalidPlant, rule(isNewPlant.errors![0]!));
  return NewPlant.from({ id: String(value.id), name: value.name, tag: value.tag })!;
}

function rule(error: ErrorObject): string {
  const missing = (error.params as { missingProperty?: string }).missingProperty;
  return missing === undefined
    ? RULES[error.instancePath]!
    : `${missing} is required: ${RULES[`/${missing}`]!}`;
}
