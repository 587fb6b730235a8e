/**
 * Clients of the service as docs/clients.md makes them, and linters of the OpenAPI document. Their
 * tools are installed.
 */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { BLOCKS, theBlock } from '../docs/samples';
import { HttpClient } from '../support/client';
import { TcpProxy } from '../support/tcp-proxy';
import { type WatchedService, startWatched } from '../support/watched-service';

/** Those that run on the oldest supported Node. */
const TOOLS = [
  'openapi-typescript@7.13.0',
  'openapi-fetch@0.17.0',
  '@hey-api/openapi-ts@0.95.0',
  'orval@7.13.2',
  'swagger-typescript-api@13.13.0',
  'core-js@3.51.0',
  'openapi-to-postmanv2@6.3.3',
  '@redocly/cli@2.77.0',
  '@stoplight/spectral-cli@6.16.3',
];

const HEADERS = "const headers = { Authorization: `Bearer ${process.env['TOKEN']}` };";

/**
 * The command of each generator, and a program with what it generates. The page has its other
 * files.
 */
const GENERATORS = {
  'openapi-typescript and openapi-fetch': {
    generate: 'node generate.mjs',
    program: `${theBlock('ts plants-client.ts')}
      const { response } = await client.DELETE('/plants/{id}', { params: { path: { id: 9007199254740993n } } });
      console.log(response.status);`,
  },
  '@hey-api/openapi-ts': {
    generate: 'openapi-ts',
    program: `${HEADERS}
      import { createPlant, deletePlant } from './client/index.js';
      import { client } from './client/client.gen.js';
      client.setConfig({ baseUrl: 'http://127.0.0.1:3000', headers });
      await createPlant({ body: { id: 9007199254740993n, name: 'Fern' } });
      const { response } = await deletePlant({ path: { id: 9007199254740993n } });
      console.log(response?.status);`,
  },
  orval: {
    generate: 'orval',
    program: `${HEADERS}
      import { createPlant, deletePlant } from './plants.js';
      await createPlant({ id: 9007199254740993n, name: 'Fern' }, { headers });
      const { status } = await deletePlant(9007199254740993n, { headers });
      console.log(status);`,
  },
  'swagger-typescript-api': {
    generate:
      'swagger-typescript-api generate -p http://127.0.0.1:3000/openapi.json -n plants.ts ' +
      '--custom-config integers.mjs',
    program: `${HEADERS}
      import { Api } from './plants.js';
      const { plants } = new Api({ baseUrl: 'http://127.0.0.1:3000', baseApiParams: { headers } });
      await plants.createPlant({ id: 9007199254740993n, name: 'Fern' });
      const { status } = await plants.deletePlant(9007199254740993n);
      console.log(status);`,
  },
};

interface PostmanField {
  readonly key: string;
  readonly value: string;
  readonly disabled?: boolean;
}

/** A collection, a folder, or a request. */
interface PostmanItem {
  readonly item?: readonly PostmanItem[];
  readonly name?: string;
  readonly request?: PostmanRequest;
}

interface PostmanRequest {
  readonly method: string;
  readonly url: {
    readonly path: readonly string[];
    readonly query?: readonly PostmanField[];
    readonly variable?: readonly PostmanField[];
  };
  readonly header: readonly PostmanField[];
  readonly body?: { readonly raw?: string };
}

function requestsOf({
  item = [],
  name = '',
  request,
}: PostmanItem): readonly { readonly name: string; readonly request: PostmanRequest }[] {
  return [...item.flatMap(requestsOf), ...(request ? [{ name, request }] : [])];
}

/** Beside node_modules, where @hey-api/openapi-ts looks for it. */
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    module: 'nodenext',
    target: 'es2023',
    types: ['node'],
    allowJs: true,
  },
};

/** Node 20 has no JSON.rawJSON. */
const POLYFILL = 'rawJSON' in JSON ? '' : "import 'core-js/actual/json/raw-json.js';\n";

describe('docs/clients.md, with the tools that it names,', function () {
  this.timeout(300_000);
  let folder: string;
  let service: WatchedService;
  let user: HttpClient;

  /** Runs a command in a folder, and returns its output. */
  async function run(command: string, cwd = folder): Promise<string> {
    const bin = [
      join(folder, 'node_modules/.bin'),
      resolve('node_modules/.bin'),
      process.env['PATH'],
    ];
    const quiet = {
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      NO_COLOR: '1',
    };
    const env = { ...process.env, ...quiet, PATH: bin.join(':'), TOKEN: user.token };
    const { stdout } = await promisify(execFile)('bash', ['-c', command], {
      cwd,
      env,
      maxBuffer: 2 ** 24,
    });
    return stdout;
  }
  const atService = (text: string) => text.replaceAll(/http:\/\/127\.0\.0\.1:3000\b/g, service.url);

  /** Makes a folder with the files of the page. */
  function newProject(name: string): { write: (file: string, text: string) => void; cwd: string } {
    const cwd = join(folder, name.replaceAll(/\W/g, '-'));
    const write = (file: string, text: string) =>
      fs.writeFileSync(join(cwd, file), atService(text));
    fs.mkdirSync(cwd);
    for (const { page, kind, text } of BLOCKS)
      if (page === 'docs/clients.md') write(kind.split(' ')[1]!, text);
    return { write, cwd };
  }

  before(async () => {
    service = await startWatched();
    user = new HttpClient(service.url);
    folder = fs.mkdtempSync(join(tmpdir(), 'plant-store-clients-'));
    fs.writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    fs.writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
    // openapi-typescript asks for TypeScript 5, and works with 6.
    const options = '--prefer-offline --no-audit --ignore-scripts --legacy-peer-deps';
    await run(`npm install ${options} ${TOOLS.join(' ')}`);
  });
  after(async () => {
    await service.stop();
    fs.rmSync(folder, { recursive: true });
  });
  afterEach(() => Promise.all([2n ** 53n, 2n ** 53n + 1n].map((id) => user.delete(id))));

  for (const [name, { generate, program }] of Object.entries(GENERATORS))
    it(`makes a client with ${name} that compiles strictly, and sends an id beyond 2^53 exactly`, async () => {
      await user.create(2 ** 53, 'Moss');
      const { write, cwd } = newProject(name);
      const tsconfig = {
        extends: '../tsconfig.json',
        compilerOptions: { outDir: 'out' },
        files: ['program.ts'],
      };
      write('tsconfig.json', JSON.stringify(tsconfig));
      write('program.ts', `${POLYFILL}import './exact-ids.js';\n${program}`);
      expect(
        await run(`${atService(generate)} >&2 && tsc >&2 && node out/program.js`, cwd),
      ).to.equal('204\n');
      expect(await user.names()).to.deep.equal(['Moss']);
    });

  it('creates a plant once with create.js even if a response is lost, and lists all with list.js', async () => {
    await user.create(2 ** 53, 'Moss');
    const proxy = await TcpProxy.to({ port: Number(new URL(service.url).port) });
    const lost = proxy.loseReply((request) => request.includes('POST'), 'cut');
    const { write, cwd } = newProject('by-hand');
    write(
      'program.js',
      `import { create, newId } from './create.js';
      import { list } from './list.js';
      const server = ['http://127.0.0.1:PORT', process.env.TOKEN];
      await create(...server, newId(), { name: 'Fern' });
      for await (const { name } of list(...server, 1)) console.log(name);`.replace(
        'PORT',
        String(proxy.port),
      ),
    );
    expect(await run('node program.js', cwd)).to.equal('Moss\nFern\n');
    expect(String(await lost)).to.contain('200');
    await proxy.close();
  });

  it('makes requests for Postman that the service accepts without a change', async () => {
    const { cwd } = newProject('postman');
    await run(`curl -s ${service.url}/openapi.json >openapi.json`, cwd);
    await run(theBlock('sh postman').replace('npx openapi-to-postmanv2', 'openapi2postmanv2'), cwd);
    const collection = JSON.parse(
      fs.readFileSync(join(cwd, 'postman.json'), 'utf8'),
    ) as PostmanItem;
    const outcomes: Record<string, number> = {};
    for (const { name, request } of requestsOf(collection)) {
      if (!request.url.path.includes('plants')) continue;
      const enabled = ({ disabled }: PostmanField) => disabled !== true;
      const query = (request.url.query ?? [])
        .filter(enabled)
        .map(({ key, value }) => `${key}=${value}`);
      const fields = request.header.filter(enabled).map(({ key, value }) => [key, value] as const);
      const answer = await user.send({
        method: request.method,
        path: `/plants${request.url.variable?.map(({ value }) => `/${value}`).join('') ?? ''}?${query.join('&')}`,
        headers: Object.fromEntries(fields),
        ...(request.body?.raw !== undefined && { body: request.body.raw }),
      });
      outcomes[name] = answer.status;
    }
    expect(outcomes).to.deep.equal({
      'Create a plant': 200,
      'List plants': 200,
      'Delete a plant': 204,
    });
  });

  it('uses an OpenAPI document in which redocly and spectral find no problem', async () => {
    await run(`curl -s ${service.url}/openapi.json >openapi.json`);
    const { totals } = JSON.parse(await run('redocly lint --format json openapi.json')) as {
      readonly totals: { readonly errors: number; readonly warnings: number };
    };
    expect(totals).to.include({ errors: 0, warnings: 0 });
    fs.writeFileSync(join(folder, '.spectral.yaml'), 'extends: spectral:oas');
    expect(await run('spectral lint --fail-severity hint --quiet openapi.json')).to.equal('');
  });
});
