import { MEMBERS, MEMBER_NAMES, type Member, type MemberName, ruleOf } from '../../domain';

export const FERN = { name: 'Fern', tag: 'indoor' };

const properties = Object.fromEntries(MEMBER_NAMES.map((name) => [name, schemaOf(MEMBERS[name])]));

function schemaOf({ minLength, description }: Member): object {
  return { type: 'string', ...(minLength > 0 && { minLength }), description };
}

const required = MEMBER_NAMES.filter((name) => !MEMBERS[name].optional);

const Plant = {
  type: 'object',
  description: 'A plant as it is returned, without its id.',
  required,
  properties,
  additionalProperties: false,
  examples: [FERN, { name: 'Monstera' }],
};

const NewPlant = {
  type: 'object',
  description: 'A plant to be created. Other members are ignored; `null` is refused.',
  required: [...required, 'id'],
  properties: {
    ...properties,
    id: {
      type: 'integer',
      format: 'int64',
      description:
        'A JSON number whose value is an integer from −2⁶³ to 2⁶³−1 (`7`, `7.0`, `7e0`). ' +
        'Ids are exact: 9007199254740993 and 9007199254740992 are two plants. ' +
        'An id is unique among the living plants of one user.',
    },
  },
  examples: [{ id: 1, ...FERN }],
};

const Plants = {
  type: 'array',
  description: 'Plants in order of creation. A plant that was deleted and created again is last.',
  items: { $ref: '#/components/schemas/Plant' },
};

export const plantSchemas = { NewPlant, Plant, Plants };

export const RULES: Readonly<Record<'id' | MemberName, string>> = {
  id: 'id must be an integer from -2^63 to 2^63-1, as a JSON number',
  ...(Object.fromEntries(
    MEMBER_NAMES.map((name) => [
      name,
      `${name}${MEMBERS[name].optional ? ', where given,' : ''} must be ${ruleOf(name)}`,
    ]),
  ) as Record<MemberName, string>),
};
