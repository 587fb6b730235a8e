/** The tarballs as a user unpacks them. `npm run test:package` */
import { expect } from 'chai';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Workshop, workshopOfTheRun } from './workshop';

const bin = (name: string) => resolve('node_modules/.bin', name);
const SWAGGER_UI = [
  ...['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'],
  ...['swagger-ui-bundle.js', 'swagger-ui.css'],
].map((file) => `dist/swagger-ui/${file}`);

describe('The tarball', function () {
  this.timeout(300_000);
  let workshop: Workshop;
  before(async () => {
    workshop = await workshopOfTheRun();
  });

  it('of the library has types and code for require and import (attw)', () =>
    workshop.run('.', bin('attw'), workshop.tarball, '--profile', 'node16'));

  it('of the library passes publint', () =>
    workshop.run('.', bin('publint'), 'run', workshop.tarball, '--strict'));

  // 532,832 bytes is the library of commit 9c01cfa: from 60 % of them on, something is packed that no user needs.
  it('of the library takes less than 320 KB', () =>
    expect(statSync(workshop.tarball).size).to.be.below(0.6 * 532_832));

  const contents: [
    name: string,
    tarball: () => string,
    isShipped: (module: string) => boolean,
    copied: readonly string[],
    isService: boolean,
  ][] = [
    [
      'library',
      () => workshop.tarball,
      (module) => !/^(?:service|adapters\/(?:auth|cli|metrics|tracing))\/|^(?:cli|main)$/.test(module),
      [],
      false,
    ],
    ['service', () => workshop.serviceTarball, (module) => !module.startsWith('testing/'), SWAGGER_UI, true],
  ];
  for (const [name, tarball, isShipped, copied, isService] of contents) {
    describe(`of the ${name}`, () => {
      let root: string;
      let files: string[];
      before(async () => {
        workshop.write(`unpacked-${name}/.keep`, '');
        await workshop.run(`unpacked-${name}`, 'tar', 'xzf', tarball());
        root = join(workshop.directory, `unpacked-${name}/package`);
        files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) =>
          statSync(join(root, file)).isFile(),
        );
      });
      const read = (file: string) => readFileSync(join(root, file), 'utf8');

      it('contains the build of its sources, the pages and the examples, and nothing else', () => {
        const built = readdirSync('src', { recursive: true, encoding: 'utf8' })
          .filter((file) => file.endsWith('.ts'))
          .map((file) => file.replace(/\.ts$/, ''))
          .filter(isShipped)
          .flatMap((module) => ['js', 'd.ts'].map((end) => `dist/${module}.${end}`));
        expect(files.filter((file) => file.startsWith('dist/'))).to.have.members([...built, ...copied]);
        for (const file of files.filter((each) => /^(?:docs|deploy)\//.test(each))) {
          expect(existsSync(file), file).to.equal(true);
          expect(file).to.match(/\.(?:md|svg|csv|ts|json|html|cfg|http|yaml|sh|Dockerfile)$/);
        }
        const others = files.filter((file) => !/^(?:dist|docs|deploy)\//.test(file));
        expect(others).to.have.members([
          ...['package.json', 'LICENSE', 'README.md', 'CHANGELOG.md', 'SECURITY.md'],
          ...(isService ? ['CONTRIBUTING.md'] : []),
        ]);
      });

      it(`has ${isService ? 'the' : 'no'} pages and files for operators and contributors`, () => {
        const some = [
          ...['docs/operations.md', 'docs/runbooks/restore.md', 'deploy/redis.sh', 'docs/authentication.md'],
          ...['CONTRIBUTING.md', 'docs/extend.md', 'docs/decisions/0003-storage-format.md'],
        ];
        expect(some.filter((file) => files.includes(file))).to.deep.equal(isService ? some : []);
      });

      it('has no page with a link to a file that is missing', () => {
        const pages = files.filter((file) => file.endsWith('.md'));
        expect(pages).to.include('README.md');
        const dead = pages.flatMap((page) =>
          [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
            .filter(([, target]) => !existsSync(join(root, dirname(page), target!)))
            .map(([, target]) => `${page}: ${target!}`),
        );
        expect(dead).to.deep.equal([]);
      });

      it('has no comment that cites a file that is missing', () => {
        const dead = files
          .filter((file) => /\.(?:js|ts)$/.test(file) && !copied.includes(file))
          .flatMap((file) =>
            filesCitedIn(read(file))
              .filter((cited) => ![root, join(root, dirname(file))].some((at) => existsSync(join(at, cited))))
              .map((cited) => `${file}: ${cited}`),
          );
        expect(dead).to.deep.equal([]);
      });
    });
  }
});

/** The files of this project that the comments of a program name, such as `docs/operations.md` or `../problems.ts`. */
function filesCitedIn(program: string): string[] {
  const comments = program.match(/\/\*[^]*?\*\/|(?<![:'"`])\/\/.*$/gm) ?? [];
  const cited =
    /(?:[\w@.-]+\/)+[\w.-]*\w\.(?:[cm]?[jt]s|json|map|md|sh|ya?ml|cfg)\b|\b(?:src|test|bench|scripts|docs|deploy)\/[\w/-]*\w|\b[\w-]+\.(?:[cm]?ts|md)\b/g;
  return comments.flatMap((comment) => comment.replaceAll(/https?:\S+/g, '').match(cited) ?? []);
}
