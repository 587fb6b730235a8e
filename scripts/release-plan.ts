/** What a release checks and writes, without I/O. */

export interface ReleaseState {
  /** The version to release. */
  readonly version: string;
  /** The version of package.json. */
  readonly current: string;
  readonly branch: string;
  /** What `git status --porcelain` prints. */
  readonly changes: string;
  readonly tags: readonly string[];
  readonly changelog: string;
}

const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;
const UNRELEASED = '## [Unreleased]\n';

/** All reasons not to release. */
export function problemsOf({
  version,
  current,
  branch,
  changes,
  tags,
  changelog,
}: ReleaseState): readonly string[] {
  const problems: string[] = [];
  if (!VERSION.test(version)) problems.push('the version must be three numbers, such as 0.2.0');
  else if (!isNewer(version, current)) problems.push(`the version must be higher than ${current}`);
  if (tags.includes(`v${version}`)) problems.push(`the tag v${version} exists`);
  if (branch !== 'main') problems.push('the branch must be main');
  if (changes !== '') problems.push('the tree has changes that are not committed');
  if (unreleasedOf(changelog) === '') problems.push('CHANGELOG.md has nothing under Unreleased');
  return problems;
}

function isNewer(version: string, current: string): boolean {
  const [a, b] = [version, current].map((text) => VERSION.exec(text)!.slice(1).map(Number));
  const different = a!.findIndex((number, index) => number !== b![index]);
  return different !== -1 && a![different]! > b![different]!;
}

function unreleasedOf(changelog: string): string {
  const [, after = ''] = changelog.split(UNRELEASED);
  return after.split(/^## /m, 1)[0]!.trim();
}

/** The changelog with what was unreleased under the heading of the version. */
export function changelogOf(changelog: string, version: string, date: string): string {
  return changelog.replace(UNRELEASED, `${UNRELEASED}\n## [${version}] - ${date}\n`);
}

/** A page or manifest with the new names of the packages' files, and the new tag of the image. */
export function renamed(text: string, current: string, version: string): string {
  return text
    .replaceAll(`plant-store-${current}.tgz`, `plant-store-${version}.tgz`)
    .replaceAll(`plant-store-service-${current}.tgz`, `plant-store-service-${version}.tgz`)
    .replaceAll(`newTag: ${current}\n`, `newTag: ${version}\n`);
}

export interface Artifact {
  readonly command: readonly string[];
  /** The file that gets the standard output of the command. */
  readonly output?: string;
}

/** The commands that make the artifacts of a release, in the order of their execution. */
export function artifacts(version: string): readonly Artifact[] {
  const name = `plant-store-${version}`;
  return [
    { command: ['npm', 'pack', '--pack-destination', 'release'] },
    { command: ['npm', 'pack', '--workspace', 'service', '--pack-destination', 'release'] },
    { command: ['bash', 'scripts/sbom.sh'], output: `release/${name}.cdx.json` },
    {
      command: [
        ...['docker', 'buildx', 'build', '--provenance', 'mode=max', '--sbom', 'true'],
        ...['--tag', `plant-store:${version}`, '--output', `type=oci,dest=release/${name}.oci.tar`, '.'],
      ],
    },
    {
      command: [
        'sha256sum',
        `release/plant-store-service-${version}.tgz`,
        ...['tgz', 'cdx.json', 'oci.tar'].map((end) => `release/${name}.${end}`),
      ],
      output: 'release/SHA256SUMS',
    },
  ];
}
