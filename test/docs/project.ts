import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { compiled } from '../support/compiled';

/** A project of a user of the package, which also has the packages of this one. */
export interface Project {
  path(file: string): string;
  /** Writes files, by their paths. */
  write(files: Readonly<Record<string, string>>): void;
  /** Runs a program, and returns its standard output. Throws with all of its output if it fails. */
  run(command: string, environment?: Readonly<Record<string, string>>): string;
}

/** Makes the folder of a project anew, in which `plant-store` is installed as compiled. */
export function newProject(name: string): Project {
  // Within this project, whose packages Node finds, too.
  const path = (file: string) => resolve('node_modules/.cache/pages', name, file);
  const out = join(compiled(), 'dist');
  const declarations = ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', out];
  if (!existsSync(join(out, 'cli.d.ts'))) execFileSync('node_modules/.bin/tsc', declarations);
  rmSync(path('.'), { recursive: true, force: true });
  mkdirSync(path('node_modules'), { recursive: true });
  symlinkSync(compiled(), path('node_modules/plant-store'));
  return {
    path,
    write(files) {
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(dirname(path(file)), { recursive: true });
        writeFileSync(path(file), text);
      }
    },
    run(command, environment = {}) {
      const PATH = `${resolve('node_modules/.bin')}:${process.env.PATH!}`;
      const env = { ...process.env, PATH, ...environment };
      const options = { cwd: path('.'), env, timeout: 120_000, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync('bash', ['-c', command], options);
      if (status !== 0) throw new Error(`exit code ${status} of ${command}:\n${stdout}${stderr}`);
      return stdout;
    },
  };
}
