/** The samples of README and the pages of docs, and what runs them. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { compiled } from '../support/compiled';

const PAGES = readdirSync('docs')
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);

/**
 * The fenced blocks of code; their kind is a language and, optionally, a mark that selects how the
 * block is run.
 */
export const BLOCKS = ['README.md', ...PAGES].flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(/^( *)```(.*)\n([^]*?)^ *``` *$/gm)].map(
    ([, indent = '', kind = '', text = '']) => ({
      page,
      kind,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  ),
);

/** The text of the only block of this kind. */
export function theBlock(kind: string): string {
  const found = BLOCKS.filter((each) => each.kind === kind);
  if (found.length !== 1) throw new Error(`${found.length} blocks are of the kind ${kind}`);
  return found[0]!.text;
}

/**
 * Runs the console blocks of a kind in one shell, and checks the outputs that the pages show after
 * the commands. `adapt` replaces addresses of the page; `afterStart` follows a command in the
 * background.
 */
export function play(
  kind: string,
  run: (script: string) => string,
  adapt = (text: string) => text,
  afterStart = '',
): void {
  const text = BLOCKS.flatMap((block) => (block.kind === kind ? block.text : []));
  const steps = text.join('').split(/^\$ /m).slice(1);
  const lines = steps.map((step) => {
    // A server must not keep the output of the shell open.
    const command = step
      .slice(0, step.indexOf('\n'))
      .replace(/ &$/, ` >server.log 2>&1 & ${afterStart}`);
    return `printf '\\1'; ${adapt(command)}`;
  });
  const outputs = run(lines.join('\n')).split('\u0001').slice(1);
  expect(outputs).to.have.length(steps.length).above(5);
  for (const [index, step] of steps.entries()) {
    const [command, ...output] = step.trim().split('\n');
    if (output.length > 0) expect(outputs[index]!.trim(), command).to.equal(output.join('\n'));
  }
}

export type Project = ReturnType<typeof newProject>;

/**
 * Makes the project of a user anew, in which `plant-store` is installed as compiled, with the
 * packages of this one.
 */
export function newProject(name: string) {
  // Within this project, whose packages Node finds, too.
  const path = (file: string) => resolve('node_modules/.cache/pages', name, file);
  rmSync(path('.'), { recursive: true, force: true });
  mkdirSync(path('node_modules'), { recursive: true });
  symlinkSync(compiled(), path('node_modules/plant-store'));
  return {
    path,
    /**
     * Runs a command, and returns its standard output. Throws with all of its output if it fails.
     */
    run(command: string, environment: Readonly<Record<string, string>> = {}): string {
      const PATH = `${compiled()}/bin:${resolve('node_modules/.bin')}:${process.env.PATH!}`;
      const env = { ...process.env, PATH, ...environment };
      const options = { cwd: path('.'), env, timeout: 120_000, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync('bash', ['-c', command], options);
      if (status !== 0) throw new Error(`exit code ${status} of ${command}:\n${stdout}${stderr}`);
      return stdout;
    },
  };
}
