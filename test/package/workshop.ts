import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

const QUIET = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_prefer_offline: 'true' };

/** The environment of a user's shell: access to the registry, without the variables of npm and this project. */
const A_STRANGERS =
  /^(?:PATH|HOME|\w+_PROXY|NODE_EXTRA_CA_CERTS|npm_config_(?:registry|cafile|cache|userconfig))$/i;

/** The packed tarballs, and projects in which they are installed. */
export class Workshop {
  private constructor(
    readonly directory: string,
    /** That of the library. */
    readonly tarball: string,
    /** That of the service. */
    readonly serviceTarball: string,
  ) {}

  static async open(): Promise<Workshop> {
    const directory = mkdtempSync(join(tmpdir(), 'plant-store-package-'));
    const pack = async (...command: string[]) => {
      const { stdout } = await execute('npm', [...command, '--json', '--pack-destination', directory]);
      const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ filename: string }];
      return join(directory, filename);
    };
    const [tarball, serviceTarball] = await Promise.all([
      pack('run', '--silent', 'pack', '--'),
      pack('pack', '--silent', '--workspace', 'service'),
    ]);
    return new Workshop(directory, tarball, serviceTarball);
  }

  /** A project called `name` with the library's tarball: an ES module, as the pages require. */
  project(name: string, manifest: object = {}): void {
    this.folder(name);
    this.write(join(name, 'package.json'), JSON.stringify({ private: true, type: 'module', ...manifest }));
  }

  /** A folder called `name` that contains only the library's tarball. */
  folder(name: string): void {
    mkdirSync(join(this.directory, name));
    copyFileSync(this.tarball, join(this.directory, name, basename(this.tarball)));
  }

  /** Adds a part to a file, with an empty line between two parts. */
  append(path: string, part: string): void {
    const file = join(this.directory, path);
    this.write(path, existsSync(file) ? `${readFileSync(file, 'utf8')}\n${part}` : part);
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.directory, path)), { recursive: true });
    writeFileSync(join(this.directory, path), text);
  }

  /** The complete output of a command. Rejects with it if the command fails. */
  async run(where: string, command: string, ...args: readonly string[]): Promise<string> {
    const cwd = join(this.directory, where);
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => A_STRANGERS.test(name)));
    const options = { cwd, env: { ...env, ...QUIET }, maxBuffer: 2 ** 26, timeout: 240_000 };
    const { stdout, stderr } = await execute(command, args, options).catch((error: unknown) => {
      const { message, stdout = '', stderr = '' } = error as Error & { stdout?: string; stderr?: string };
      throw new Error([message, stdout, stderr].join('\n'));
    });
    return stdout + stderr;
  }

  close(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

let opened: Promise<Workshop> | undefined;
// This file is loaded outside of any suite, so the hook is the whole run's.
after(async () => (await opened)?.close());

/** The workshop of the whole run, opened by the first suite that needs it. */
export function workshopOfTheRun(): Promise<Workshop> {
  return (opened ??= Workshop.open());
}
