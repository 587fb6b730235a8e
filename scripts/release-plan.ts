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
  /** The tools and settings that the release needs and this machine lacks. */
  readonly missing: readonly string[];
  readonly addresses: Addresses;
}

/** Where a release is published, as https addresses. */
export interface Addresses {
  readonly repository: string;
  /** That of the folder docs. */
  readonly documentation: string;
}

const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;
/** Without a query, a fragment, credentials, and a slash or `.git` at its end, because paths follow it. */
const ADDRESS = /^https:\/\/[^\s/?#@]+(?:\/[^\s/?#@]+)*(?<!\.git)$/;
const UNRELEASED = '## [Unreleased]\n';

/** All reasons not to release. */
export function problemsOf({
  version,
  current,
  branch,
  changes,
  tags,
  changelog,
  missing,
  addresses,
}: ReleaseState): readonly string[] {
  const problems = missing.map((each) => `${each} is missing`);
  for (const name of ['repository', 'documentation'] as const) {
    const given = addresses[name];
    if (!ADDRESS.test(given))
      problems.push(
        `--${name} must be an https address, such as https://git.example/plant-store${given && `, and is ${given}`}`,
      );
  }
  if (!VERSION.test(version)) problems.push('the version must be three numbers, such as 0.2.0');
  else if (tags.includes(`v${version}`)) problems.push(`the tag v${version} exists`);
  // The version of package.json itself may not be released yet.
  else if (version !== current && !isNewer(version, current))
    problems.push(`the version must be higher than ${current}`);
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

/** A page or manifest with the new names of the packages' files, and the new tag of the image, not yet {@link pinned}. */
export function renamed(text: string, current: string, version: string): string {
  return text
    .replace(/^ +digest: sha256:.*\n/gm, '')
    .replace(/@sha256:\w+$/gm, '')
    .replaceAll(`plant-store-${current}.tgz`, `plant-store-${version}.tgz`)
    .replaceAll(`plant-store-service-${current}.tgz`, `plant-store-service-${version}.tgz`)
    .replaceAll(`plant-store-operator:${current}\n`, `plant-store-operator:${version}\n`)
    .replaceAll(`newTag: ${current}\n`, `newTag: ${version}\n`);
}

/** A manifest with the digest of the image of this name, beside the tag, which only shows the version. */
export function pinned(text: string, name: string, digest: string): string {
  return text
    .replace(
      new RegExp(`^( +)- name: ${name}\n(?:\\1  .*\n)*?\\1  newTag: .*\n`, 'gm'),
      `$&$1  digest: ${digest}\n`,
    )
    .replace(new RegExp(`^( +image: \\S+/${name}:[\\w.]+)$`, 'gm'), `$1@${digest}`);
}

/** A package.json with the addresses. `directory` is its folder, unless that is the root of the repository. */
export function addressed(
  manifest: string,
  { repository, documentation }: Addresses,
  directory?: string,
): string {
  const members = {
    ...(JSON.parse(manifest) as object),
    homepage: documentation,
    bugs: `${repository}/issues`,
    repository: { type: 'git', url: `git+${repository}.git`, ...(directory && { directory }) },
  };
  return `${JSON.stringify(members, null, 2)}\n`;
}

/** The part of a `runbook_url` after the address of the documentation: a section of a page. */
export function sectionOf(url: string): string {
  return SECTION.exec(url)![0];
}

const SECTION = /(?:runbooks\/)?[\w-]+\.md#\S+$/;

/** The rules of Prometheus with runbooks at this address. */
export function withRunbooksAt(documentation: string, rules: string): string {
  return rules.replace(/(?<=^ +runbook_url: )\S+$/gm, (url) => `${documentation}/${sectionOf(url)}`);
}

/** What `npm audit --json` prints: the numbers, or an error. */
export interface Audit {
  readonly metadata?: { readonly vulnerabilities: { readonly high: number; readonly critical: number } };
}

/** The number of severe vulnerabilities; `undefined` if the registry does not know. */
export function severeIn({ metadata }: Audit): number | undefined {
  return metadata && metadata.vulnerabilities.high + metadata.vulnerabilities.critical;
}

export interface Build {
  readonly version: string;
  /** The commit that the files are made from. */
  readonly commit: string;
  readonly startedOn: string;
  readonly finishedOn: string;
  readonly tools: Readonly<Record<string, string>>;
  /** The SHA-256 of package-lock.json, which has that of each package. */
  readonly lockFile: string;
  readonly files: readonly { readonly name: string; readonly sha256: string }[];
}

/** A statement of in-toto about the files, with the provenance of SLSA: https://slsa.dev/spec/v1.0/provenance */
export function provenanceOf(build: Build): string {
  const { version, commit, lockFile, startedOn, finishedOn, tools, files } = build;
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:plant-store:release:1',
        externalParameters: { version },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: lockFile } },
        ],
      },
      runDetails: {
        builder: { id: 'urn:plant-store:scripts/release.ts', version: tools },
        metadata: { startedOn, finishedOn },
      },
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}
