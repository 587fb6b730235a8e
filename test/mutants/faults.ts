/**
 * Faults of the source, and the test that must find each; see faults.txt:
 *
 *     === <what is wrong, as a sentence>
 *     <file of the source> @ <test file>: <a part of the title>
 *     -<a line of the file>
 *     +<what replaces it>
 *
 * Indentation does not count.
 */
import { readFileSync } from 'node:fs';

export interface Fault {
  readonly what: string;
  readonly file: string;
  readonly test: string;
  readonly title: string;
  /** Lines that the file has exactly once, and the lines with the fault. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export const FAULTS: readonly Fault[] = readFileSync('test/mutants/faults.txt', 'utf8')
  .split(/^=== /m)
  .slice(1)
  .map((entry) => {
    const [what, place, ...lines] = entry.trimEnd().split('\n');
    const [, file, test, title] = /^(\S+) @ (\S+): (.*)$/.exec(place!)!;
    const marked = (mark: string) =>
      lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(1));
    return {
      what: what!,
      file: file!,
      test: test!,
      title: title!,
      before: marked('-'),
      after: marked('+'),
    };
  });

/**
 * The text of its file with the fault. Throws if the file does not have the lines to replace
 * exactly once.
 */
export function plantedIn(text: string, { file, before, after }: Fault): string {
  const lines = text.split('\n');
  const places = lines.flatMap((_, at) =>
    before.every((line, index) => lines[at + index]?.trim() === line.trim()) ? [at] : [],
  );
  if (places.length !== 1)
    throw new Error(`${file} does not have exactly once:\n${before.join('\n')}`);
  return lines.toSpliced(places[0]!, before.length, ...after).join('\n');
}
