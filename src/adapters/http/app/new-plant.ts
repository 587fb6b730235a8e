/** The validation of a new plant. */
import { Ajv } from 'ajv';
import { JsonNumber } from '../../../application';
import { MEMBERS, MEMBER_NAMES, NewPlant, canonicalInteger, ruleOf } from '../../../domain';
import { type NewPlantBody, newPlantSchema } from '../openapi/schemas';
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
  ...newPlantSchema,
  properties: Object.fromEntries(
    Object.entries(newPlantSchema.properties).map(([name, rule]) => [name, exact(rule)]),
  ),
});

/** The published rule of a member, for values of `parseJson`: numbers are exact, and strings may be ill-formed. */
function exact(rule: { readonly type: string; readonly format?: string }): object {
  // `NewPlant.from` checks the range.
  if (rule.format === 'int64') return { number: true };
  return rule.type === 'string' ? { ...rule, wellFormed: true } : rule;
}

const NO_OBJECT = 'the body must be a JSON object';
const RULES: Readonly<Record<string, string>> = {
  id: 'id must be an integer from -2^63 to 2^63-1, as a JSON number',
  ...Object.fromEntries(
    MEMBER_NAMES.map((name) => [
      name,
      `${name}${MEMBERS[name].optional ? ', where given,' : ''} must be ${ruleOf(name)}`,
    ]),
  ),
};

/** Makes a NewPlant from a JSON value, and ignores members that a plant does not have. Throws {@link HttpProblem} that names member and rule. */
export function newPlantFrom(value: unknown): NewPlant {
  // For ajv, a JsonNumber is an object.
  if (value instanceof JsonNumber) throw invalidPlant(NO_OBJECT);
  if (!isNewPlant(value)) {
    const { instancePath, params } = isNewPlant.errors![0]!;
    const { missingProperty: missing } = params as { missingProperty?: string };
    if (missing !== undefined) throw invalidPlant(`${missing} is required: ${RULES[missing]}`);
    throw invalidPlant(RULES[instancePath.slice(1)] ?? NO_OBJECT);
  }
  const { plant, invalid } = NewPlant.from({ ...value, id: canonicalInteger(value.id.literal) });
  if (invalid) throw invalidPlant(RULES[invalid.member]);
  return plant;
}

function invalidPlant(message: string | undefined): HttpProblem {
  return new HttpProblem(PROBLEMS.invalidBody, message);
}
