import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { changelogOf, problemsOf, renamed } from '../../scripts/release-plan';
import { temporaryDirectory } from '../support/temporary-directory';

const CHANGELOG =
  '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Ferns.\n\n## [0.1.0] - 2026-01-01\n\n- Moss.\n';

describe('A release', () => {
  const state = {
    version: '0.2.0',
    current: '0.1.0',
    branch: 'main',
    changes: '',
    tags: ['v0.1.0'],
    changelog: CHANGELOG,
  };

  it('has no problem with a higher version, a clean main branch and unreleased changes', () => {
    expect(problemsOf(state)).to.deep.equal([]);
    for (const version of ['0.1.1', '0.10.0', '1.0.0'])
      expect(problemsOf({ ...state, version })).to.deep.equal([]);
  });

  for (const [wrong, problem] of [
    [{ version: '' }, 'the version must be three numbers, such as 0.2.0'],
    [{ version: 'v0.2.0' }, 'the version must be three numbers, such as 0.2.0'],
    [{ version: '0.2.0; rm' }, 'the version must be three numbers, such as 0.2.0'],
    [{ version: '0.0.9' }, 'the version must be higher than 0.1.0'],
    [{ version: '0.1.0', tags: [] }, 'the version must be higher than 0.1.0'],
    [{ tags: ['v0.2.0'] }, 'the tag v0.2.0 exists'],
    [{ branch: 'feature' }, 'the branch must be main'],
    [{ changes: ' M README.md' }, 'the tree has changes that are not committed'],
    [
      { changelog: '# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-01-01\n\n- Moss.\n' },
      'CHANGELOG.md has nothing under Unreleased',
    ],
  ] as const) {
    it(`is refused with ${JSON.stringify(wrong)}`, () => {
      expect(problemsOf({ ...state, ...wrong })).to.deep.equal([problem]);
    });
  }

  it('has the unreleased changes under its heading, and the heading Unreleased with none', () => {
    expect(changelogOf(CHANGELOG, '0.2.0', '2026-11-22')).to.equal(
      CHANGELOG.replace('## [Unreleased]\n', '## [Unreleased]\n\n## [0.2.0] - 2026-11-22\n'),
    );
    const released = changelogOf(readFileSync('CHANGELOG.md', 'utf8'), '9.0.0', '2026-11-22');
    expect(released).to.match(/^## \[Unreleased\]\n\n## \[9\.0\.0\] - 2026-11-22\n\n### Added$/m);
  });

  it('names the package and the image of its version in pages and manifests', () => {
    const page = 'npm install path/to/plant-store-0.1.0.tgz # 0.1.0';
    expect(renamed(page, '0.1.0', '0.2.0')).to.equal('npm install path/to/plant-store-0.2.0.tgz # 0.1.0');
    expect(renamed('    newTag: 0.1.0\n', '0.1.0', '0.2.0')).to.equal('    newTag: 0.2.0\n');
  });

  describe('of a repository', function () {
    this.timeout(60_000);
    const inDirectory = temporaryDirectory();

    it('is shown by a dry run, which changes nothing', () => {
      const repository = inDirectory('plant-store');
      const files = {
        'package.json': '{ "version": "0.1.0" }\n',
        'CHANGELOG.md': CHANGELOG,
        'README.md': 'npm install plant-store-0.1.0.tgz\n',
        'docs/other.md': 'plant-store\n',
        'deploy/kubernetes/kustomization.yaml': 'images:\n  - name: plant-store\n    newTag: 0.1.0\n',
      };
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(repository, path)), { recursive: true });
        writeFileSync(join(repository, path), text);
      }
      const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' });
      git('init', '--quiet', '--initial-branch', 'main');
      git('add', '--all');
      const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
      git(...author, 'commit', '--quiet', '--message', 'Start');
      const before = git('log', '--all', '--decorate');

      const tsNode = ['-r', require.resolve('ts-node/register')];
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [...tsNode, resolve('scripts/release.ts'), '0.2.0', '--dry-run'],
        {
          cwd: repository,
          encoding: 'utf8',
          env: { ...process.env, TS_NODE_PROJECT: resolve('tsconfig.json') },
        },
      );
      expect(stderr).to.equal('');
      expect(status).to.equal(0);
      expect(stdout.split('\n')).to.deep.equal([
        'write CHANGELOG.md',
        `  ## [0.2.0] - ${new Date().toISOString().slice(0, 10)}`,
        'write README.md',
        'write deploy/kubernetes/kustomization.yaml',
        'npm version 0.2.0 --workspaces --include-workspace-root --no-git-tag-version',
        'git commit --all --message Release 0.2.0',
        'npm pack --pack-destination release',
        'npm pack --workspace service --pack-destination release',
        'bash scripts/sbom.sh > release/plant-store-0.2.0.cdx.json',
        'docker buildx build --provenance mode=max --sbom true --tag plant-store:0.2.0 --output type=oci,dest=release/plant-store-0.2.0.oci.tar .',
        'sha256sum release/plant-store-service-0.2.0.tgz release/plant-store-0.2.0.tgz release/plant-store-0.2.0.cdx.json release/plant-store-0.2.0.oci.tar > release/SHA256SUMS',
        'git tag --annotate v0.2.0 --message Release 0.2.0',
        'to publish it: git push --follow-tags, and the files of release/',
        '',
      ]);
      expect(git('status', '--porcelain')).to.equal('');
      expect(git('log', '--all', '--decorate')).to.equal(before);
    });
  });
});
