/** Plays scripts: steps such as `a: +3` that are separated by `;` or a line break; `step -> text` checks its result. */
import { expect } from 'chai';
import { untilIdle } from '../support/manual-clock';

/**
 * By its first word, what a step does with the others; `''`: any other word. A function that it returns is called for the
 * result once nothing more can happen.
 */
export type Steps = Readonly<Record<string, (args: [string, ...string[]]) => unknown>>;

export async function play(steps: Steps, script: string): Promise<void> {
  for (const step of script.split(/[;\n]/).map((text) => text.trim())) {
    if (step === '') continue;
    const [words, expected] = step.split(/ *-> */) as [string, string?];
    const [word, ...args] = words.split(' ') as [string, string, ...string[]];
    const result = await (steps[word]?.(args) ?? (word in steps ? undefined : steps['']?.([word, ...args])));
    await untilIdle();
    const text = typeof result === 'function' ? await (result as () => unknown)() : result;
    if (expected !== undefined) expect(String(text), step).to.equal(expected);
  }
}

export const listed = (texts: readonly unknown[], separator = ' '): string => texts.join(separator) || 'none';

/** A script, with options for what plays it. */
export type Row<Options> = string | readonly [options: Options, script: string];

/** Test suites: by what they promise, the scripts that show it. */
export type Suites<Options> = Readonly<Record<string, Readonly<Record<string, Row<Options>>>>>;

export function describeAll<Options extends object>(
  suites: Suites<Options>,
  run: (script: string, options: Options) => Promise<void>,
): void {
  for (const [suite, rows] of Object.entries(suites))
    describe(suite, () => {
      for (const [promise, row] of Object.entries(rows)) {
        const [options, script] = typeof row === 'string' ? [{} as Options, row] : row;
        it(promise, () => run(script, options));
      }
    });
}
