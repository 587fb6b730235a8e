import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import {
  addressed,
  changelogOf,
  pinned,
  problemsOf,
  renamed,
  severeIn,
  withRunbooksAt,
} from '../../scripts/release-plan';

const CHANGELOG =
  '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Ferns.\n\n## [0.1.0] - 2026-01-01\n\n- Moss.\n';

describe('A release', () => {
  const addresses = {
    repository: 'https://git.example/plant-store',
    documentation: 'https://git.example/plant-store/docs',
  };
  const state = {
    version: '0.2.0',
    current: '0.1.0',
    branch: 'main',
    changes: '',
    tags: ['v0.1.0'],
    changelog: CHANGELOG,
    missing: [],
    addresses,
  };

  it('has no problem with a higher version, a clean main branch and unreleased changes', () => {
    expect(problemsOf(state)).to.deep.equal([]);
    for (const version of ['0.1.1', '0.10.0', '1.0.0'])
      expect(problemsOf({ ...state, version })).to.deep.equal([]);
  });

  it('may have the version of package.json, if that was never released', () => {
    expect(problemsOf({ ...state, version: '0.1.0', tags: [] })).to.deep.equal([]);
  });

  for (const [wrong, problem] of [
    [{ version: '' }, 'the version must be three numbers, such as 0.2.0'],
    [{ version: 'v0.2.0' }, 'the version must be three numbers, such as 0.2.0'],
    [{ version: '0.2.0; rm' }, 'the version must be three numbers, such as 0.2.0'],
    [{ version: '0.0.9' }, 'the version must be higher than 0.1.0'],
    [{ version: '0.1.0' }, 'the tag v0.1.0 exists'],
    [{ tags: ['v0.2.0'] }, 'the tag v0.2.0 exists'],
    [{ missing: ['docker'] }, 'docker is missing'],
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

  for (const name of ['repository', 'documentation'] as const)
    for (const address of [
      '',
      'http://git.example/plant-store',
      'https://git.example/docs/',
      'https://git.example/a.git',
      'https://a b',
    ])
      it(`is refused with ${JSON.stringify(address)} as the address of the ${name}`, () => {
        const given = address === '' ? '' : `, and is ${address}`;
        expect(problemsOf({ ...state, addresses: { ...addresses, [name]: address } })).to.deep.equal([
          `--${name} must be an https address, such as https://git.example/plant-store${given}`,
        ]);
      });

  it('names the repository in both packages, also in place of that of the release before', () => {
    for (const folder of [undefined, 'service']) {
      const manifest = readFileSync(`${folder ?? '.'}/package.json`, 'utf8');
      const released = addressed(manifest, addresses, folder);
      expect(JSON.parse(released)).to.deep.equal({
        ...(JSON.parse(manifest) as object),
        homepage: 'https://git.example/plant-store/docs',
        bugs: 'https://git.example/plant-store/issues',
        repository: {
          type: 'git',
          url: 'git+https://git.example/plant-store.git',
          ...(folder && { directory: folder }),
        },
      });
      const moved = { ...addresses, repository: 'https://other.example/a' };
      expect(addressed(released, moved, folder)).to.equal(addressed(manifest, moved, folder));
    }
  });

  it('links the runbook of every alert at the address of the documentation', () => {
    for (const file of [
      'deploy/prometheus/rules.yaml',
      'deploy/kubernetes/monitoring/prometheus-rule.yaml',
    ]) {
      const rules = readFileSync(file, 'utf8');
      const released = withRunbooksAt('https://git.example/plant-store/docs', rules);
      const links = [...released.matchAll(/runbook_url: https:\/\/git\.example\/plant-store\/docs\/(\S+)#/g)];
      expect(links)
        .to.have.length(rules.split('runbook_url: ').length - 1)
        .and.not.length(0);
      for (const [, page] of links) expect(existsSync(`docs/${page!}`), page).to.equal(true);
      expect(withRunbooksAt('https://other.example', released)).to.equal(
        withRunbooksAt('https://other.example', rules),
      );
    }
  });

  it('has the unreleased changes under its heading, and the heading Unreleased with none', () => {
    expect(changelogOf(CHANGELOG, '0.2.0', '2026-11-22')).to.equal(
      CHANGELOG.replace('## [Unreleased]\n', '## [Unreleased]\n\n## [0.2.0] - 2026-11-22\n'),
    );
    const released = changelogOf(readFileSync('CHANGELOG.md', 'utf8'), '9.0.0', '2026-11-22');
    expect(released).to.match(/^## \[Unreleased\]\n\n## \[9\.0\.0\] - 2026-11-22\n\n### Added$/m);
  });

  it('names the package and the image of its version in pages and manifests, and pins the image by its digest', () => {
    const page = 'npm install path/to/plant-store-0.1.0.tgz # 0.1.0';
    expect(renamed(page, '0.1.0', '0.2.0')).to.equal('npm install path/to/plant-store-0.2.0.tgz # 0.1.0');
    const image = '  image: registry.example/plant-store-operator:0.1.0\n';
    expect(renamed(image, '0.1.0', '0.2.0')).to.equal(image.replace('0.1.0', '0.2.0'));
    const digest = `sha256:${'a'.repeat(64)}`;
    const images = '  - name: plant-store\n    newName: registry.example/plant-store\n    newTag: 0.1.0\n';
    for (const manifest of [image, images]) {
      const withDigest = pinned(
        manifest,
        manifest === image ? 'plant-store-operator' : 'plant-store',
        digest,
      );
      expect(withDigest).to.match(/(?::0\.1\.0@|newTag: 0\.1\.0\n {4}digest: )sha256:a{64}\n$/);
      expect(pinned(withDigest, 'redis', digest)).to.equal(withDigest);
      // The next release, before its images are built.
      expect(renamed(withDigest, '0.1.0', '0.2.0')).to.equal(manifest.replace('0.1.0', '0.2.0'));
    }
    expect(renamed('    newTag: 0.1.0\n', '0.1.0', '0.2.0')).to.equal('    newTag: 0.2.0\n');
  });

  it('is stopped by severe vulnerabilities, if the registry knows any', () => {
    const audit = (high: number, critical: number) => ({ metadata: { vulnerabilities: { high, critical } } });
    expect(severeIn(audit(1, 2))).to.equal(3);
    expect(severeIn(audit(0, 0))).to.equal(0);
    expect(severeIn({})).to.equal(undefined);
  });
});
