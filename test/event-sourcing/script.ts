/**
 * Test cases as text files, as the datadriven tests of etcd's raft are. `#` begins a suite and `##`
 * a case, named by its promise. Each line of a case is a step, in words that the test file defines.
 * The indented lines below a step are all that happened then, so a case fails at the first step
 * that has another effect.
 *
 * `REWRITE=1 npx mocha <test file>` writes what happens into the text. Read the difference before
 * you commit it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { untilIdle } from '../support/manual-clock';

/**
 * What steps do, by their words: `_` stands for a word and `…` for the rest of the line, which are
 * the arguments. What a step returns is shown below it.
 */
export type Steps = Readonly<Record<string, (...words: string[]) => unknown>>;

/** What a case is played on. */
export interface Stage {
  readonly steps: Steps;
  /** What has happened since the last call, a line each. */
  happened(): readonly (string | false)[];
}

/** Resolves when calls that take a few turns of the event loop have ended. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await untilIdle();
}

/**
 * Defines the cases of a text file.
 * @param open its options are the first lines of a case: `given max waiting 2` is `{ maxWaiting: 2
 *   }`.
 */
export function describeCases(file: string, open: (options: never) => Stage): void {
  const path = `${__dirname}/${file}`;
  for (const suite of sectionsOf(readFileSync(path, 'utf8'), '# '))
    describe(firstLineOf(suite), () => {
      for (const text of sectionsOf(suite, '## '))
        it(firstLineOf(text), async () => {
          const [title, ...lines] = text.trimEnd().split('\n');
          const played = await play(lines, open);
          if (isRewritten) rewrite(path, [`## ${title!}`, ...played]);
        });
    });
}

function rewrite(path: string, played: readonly string[]): void {
  const sections = readFileSync(path, 'utf8').split(/^(?=##? )/m);
  const rewritten = sections.map((text) =>
    firstLineOf(text) === played[0] ? `${played.join('\n')}\n\n` : text,
  );
  writeFileSync(path, `${rewritten.join('').trimEnd()}\n`);
}

const isRewritten = process.env['REWRITE'] !== undefined;
const sectionsOf = (text: string, mark: string) => text.split(new RegExp(`^${mark}`, 'm')).slice(1);
const firstLineOf = (text: string) => text.split('\n', 1)[0]!;

/** Plays the lines of a case, and returns them with what has happened. */
async function play(lines: readonly string[], open: (options: never) => Stage): Promise<string[]> {
  const steps = lines.filter((line) => !line.startsWith(' '));
  const given = steps.filter((step) => step.startsWith('given '));
  const stage = open(Object.fromEntries(given.map(optionOf)) as never);
  const played = [...given];
  const compare = (end?: number) => {
    if (!isRewritten) expect(played.join('\n')).to.equal(lines.slice(0, end).join('\n'));
  };
  for (const step of steps.slice(given.length)) {
    const result = await perform(stage.steps, step);
    await settled();
    const shown = [result, ...stage.happened()].filter(
      (line) => line !== undefined && line !== false,
    );
    played.push(step, ...shown.map((line) => `  ${String(line)}`));
    compare(played.length);
  }
  compare();
  return played;
}

function optionOf(line: string): [name: string, value: number] {
  const [, ...words] = line.split(' ');
  const value = Number(words.pop());
  return [words.join(' ').replace(/ ./g, (start) => start.trim().toUpperCase()), value];
}

function perform(known: Steps, step: string): unknown {
  for (const [words, action] of Object.entries(known)) {
    const args = new RegExp(`^${words.replaceAll('_', '(\\S+)').replaceAll('…', '(.*)')}$`).exec(
      step,
    );
    if (args) return action(...args.slice(1));
  }
  throw new Error(`unknown step: ${step}\nknown are:\n${Object.keys(known).join('\n')}`);
}

export const listed = (texts: readonly unknown[], separator = ' '): string =>
  texts.join(separator) || 'none';

/** A promise whose outcome is text: `pending`, its value, or the name of its error. */
export class Pending {
  outcome = 'pending';
  error: unknown;

  constructor(promise: Promise<unknown>) {
    promise.then(
      (value) => (this.outcome = String(value)),
      (error: unknown) => Object.assign(this, { outcome: (error as Error).name, error }),
    );
  }
}
