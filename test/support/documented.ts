import { METHODS } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020';
import { openApiDocument } from '../../src/adapters/http/openapi/document';
import type { PathItem } from '../../src/adapters/http/openapi/document';
import { METHODS as SERVED, servedMethods } from '../../src/adapters/http/openapi/operations';
import {
  type Header,
  type Method,
  OPERATION_METHODS,
  type Response,
  type Responses,
} from '../../src/adapters/http/openapi/parts';

/** A request as sent. */
export interface WireRequest {
  readonly method: string;
  readonly target: string;
}

/** The response to it, as received. */
export interface WireResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly fields: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Fields that HTTP requires itself, or that OpenAPI describes elsewhere. */
const PLUMBING = new Set(['connection', 'content-length', 'content-type', 'date', 'keep-alive']);

/** Returns the deviations of a response from the document; empty if there are none. */
type ResponseCheck = (response: WireResponse, bodiless: boolean) => string[];

/** Checks responses against the OpenAPI document: status, all header fields, body. */
class Documentation {
  readonly #document = openApiDocument();
  readonly #paths = Object.entries<PathItem>(this.#document.paths).map(([path, item]) => ({
    path,
    item,
    methods: servedMethodsOf(item),
    matches: template(path),
  }));
  readonly #ajv = new Ajv2020({
    strict: false,
    formats: { int32: { type: 'number', validate: isInt32 }, int64: true },
  }).addSchema(this.#document, 'document', false);
  /** By JSON pointer of the responses, and status. */
  readonly #checks = new Map<string, ResponseCheck>();

  complaints({ method, target }: WireRequest, response: WireResponse): string[] {
    const sent = pathOf(target);
    const at =
      this.#paths.find(({ path }) => path === sent) ?? this.#paths.find(({ matches }) => matches.test(sent));
    const responses = at ? responsesOf(at.path, at.item, method) : OTHER;
    return [
      ...this.#check(responses, response.status)(response, method === 'HEAD'),
      // A method that Node's parser does not know is refused before the path is read.
      ...wrongAllow(response, at && method !== 'CONNECT' && METHODS.includes(method) ? at.methods : SERVED),
    ];
  }

  /** The same for an unknown request: the response must be documented for any request. */
  complaintsOfAny(response: WireResponse): string[] {
    const operations = this.#paths.flatMap(({ path, item, methods }) =>
      methods.map((method) => responsesOf(path, item, method)),
    );
    const each = [...new Set([...operations, OTHER])].map((responses) =>
      this.#check(responses, response.status)(response, response.body === ''),
    );
    return each.some((complaints) => complaints.length === 0) ? [] : each.at(-1)!;
  }

  #check(responses: string, status: number): ResponseCheck {
    const key = `${responses}/${status}`;
    let check = this.#checks.get(key);
    if (!check) this.#checks.set(key, (check = this.#newCheck(responses, status)));
    return check;
  }

  #newCheck(responses: string, status: number): ResponseCheck {
    if (!(this.#at(responses) as Responses)[String(status)])
      return () => [`${status} is not documented at ${responses}`];
    const [place, documented] = this.#found(`${responses}/${status}`) as [string, Response];
    const fields = Object.keys(documented.headers).map((name) => {
      const [at, header] = this.#found(`${place}/headers/${name}`) as [string, Header];
      return {
        name: name.toLowerCase(),
        required: header.required,
        invalid: this.#invalid(`${at}/schema`, name),
      };
    });
    const names = new Set([...fields.map(({ name }) => name), ...PLUMBING]);
    const content = new Map(
      Object.keys(documented.content ?? {}).map((type) => [
        type,
        this.#invalid(`${place}/content/${escaped(type)}/schema`, 'the body'),
      ]),
    );

    return (response, bodiless) => [
      ...[...response.fields.keys()]
        .filter((name) => !names.has(name))
        .map((name) => `${name} is not documented`),
      ...fields.flatMap(({ name, required, invalid }) => {
        const value = response.fields.get(name);
        if (value !== undefined) return invalid(value);
        return required ? [`${name} is missing`] : [];
      }),
      ...wrongBody(response, bodiless, content),
    ];
  }

  #invalid(place: string, what: string): (value: unknown) => string[] {
    const validate = this.#ajv.compile({
      $ref: `document#${place.split('/').map(encodeURIComponent).join('/')}`,
    });
    return (value) => (validate(value) ? [] : [`${what}: ${this.#ajv.errorsText(validate.errors)}`]);
  }

  /** The node at a JSON pointer, with its reference resolved. */
  #found(place: string): [place: string, node: unknown] {
    const node = this.#at(place) as { $ref?: string };
    return node.$ref === undefined ? [place, node] : this.#found(node.$ref.slice(1));
  }

  #at(place: string): unknown {
    const keys = place.split('/').slice(1);
    return keys.reduce<unknown>(
      (node, key) => (node as Record<string, unknown>)[unescaped(key)],
      this.#document,
    );
  }
}

const OTHER = '/x-other-requests/responses';

/** The place of the responses to a method at a path: HEAD is documented as GET, and OPTIONS once for all paths. */
function responsesOf(path: string, item: PathItem, method: string): string {
  if (!servedMethodsOf(item).includes(method)) return OTHER;
  if (method === 'OPTIONS') return '/x-options/responses';
  return `/paths/${escaped(path)}/${method === 'HEAD' ? 'get' : method.toLowerCase()}/responses`;
}

function wrongAllow({ fields }: WireResponse, methods: readonly string[]): string[] {
  const [actual, documented] = [fields.get('allow'), methods.join(', ')];
  return actual === undefined || actual === documented
    ? []
    : [`allow is ${actual}, and ${documented} are documented`];
}

function wrongBody(
  { fields, body }: WireResponse,
  bodiless: boolean,
  content: ReadonlyMap<string, (value: unknown) => string[]>,
): string[] {
  const type = fields.get('content-type');
  if (content.size === 0) return type === undefined && body === '' ? [] : ['a body, and none is documented'];
  const invalid = content.get(type ?? '');
  if (!invalid) return [`the type ${type ?? 'unknown'} is not documented`];
  if (bodiless) return body === '' ? [] : ['a body after HEAD'];
  return invalid(type === 'application/json' ? JSON.parse(body) : body);
}

/** The methods that have an operation. */
function methodsOf(item: PathItem): Method[] {
  return OPERATION_METHODS.filter((method) => method.toLowerCase() in item);
}

/** All methods of a path, in the order of `Allow`. */
function servedMethodsOf(item: PathItem): readonly string[] {
  return servedMethods(methodsOf(item));
}

/** Of a target in origin-form or absolute-form. */
function pathOf(target: string): string {
  return /^(?:https?:\/\/[^/?#]+)?([^?#]*)/i.exec(target)![1] || '/';
}

function template(path: string): RegExp {
  return new RegExp(`^${path.replace('.', '[.]').replace(/\{\w+\}/g, '[^/]+')}$`);
}

function isInt32(value: number): boolean {
  return Number.isInteger(value) && value === (value | 0);
}

const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');
const unescaped = (key: string) => key.replaceAll('~1', '/').replaceAll('~0', '~');

let documentation: Documentation | undefined;

/** Throws if a response is not as documented. `request`: absent if it is unknown. */
export function expectDocumented(request: WireRequest | undefined, response: WireResponse): void {
  documentation ??= new Documentation();
  const complaints = request
    ? documentation.complaints(request, response)
    : documentation.complaintsOfAny(response);
  if (complaints.length === 0) return;
  const what = request ? `${request.method} ${request.target}` : 'an unknown request';
  throw new Error(`not as documented: ${response.status} to ${what}: ${complaints.join('; ')}`);
}
