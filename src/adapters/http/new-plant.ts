import { Ajv, type ErrorObject } from 'ajv';
import { NewPlant, plantIdFromJsonNumber } from '../../domain';
import { JsonNumber } from './json';
import { type NewPlantBody, NewPlant as published } from './openapi/schemas';
import { HttpProblem, PROBLEMS } from './problems';

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
  // `plantIdFromJsonNumber` checks the range.
  if (rule.format === 'int64') return { number: true };
  return rule.type === 'string' ? { ...rule, wellFormed: true } : rule;
}

const RULES: Readonly<Record<string, string>> = {
  '': 'the body must be a JSON object',
  '/name': 'name must be a string of at least one character, in well-formed Unicode',
  '/id': 'id must be an integer from -2^63 to 2^63-1, as a JSON number',
  '/tag': 'tag, where given, must be a string in well-formed Unicode',
};

/** Makes a NewPlant from a JSON value, and ignores other members. Throws {@link HttpProblem} that names member and rule. */
export function newPlantFrom(value: unknown): NewPlant {
  // For ajv, a JsonNumber is an object.
  if (value instanceof JsonNumber) throw new HttpProblem(PROBLEMS.invalidPlant, RULES['']);
  if (!isNewPlant(value)) throw new HttpProblem(PROBLEMS.invalidPlant, rule(isNewPlant.errors![0]!));
  const { name, tag } = value;
  const plant = NewPlant.from({ id: plantIdFromJsonNumber(value.id.literal), name, tag });
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
