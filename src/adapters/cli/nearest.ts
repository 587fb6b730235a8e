import { escapeForTerminal } from './terminal';

/** `unknown command "lst": did you mean list?`, with the question only if a known word is near. */
export function unknown(what: string, written: string, known: readonly string[]): string {
  const meant = nearest(written, known, Math.ceil(written.length / 4));
  const question = meant === undefined ? '' : `: did you mean ${meant}?`;
  return `unknown ${what} ${escapeForTerminal(written)}${question}`;
}

/** The word of `known` with the fewest typos in `written`; `undefined` if all have more than `most`. */
export function nearest(written: string, known: readonly string[], most = Infinity): string | undefined {
  const [best] = known
    .filter((word) => Math.abs(word.length - written.length) <= most)
    .map((word) => ({ word, count: typos(written, word) }))
    .sort((a, b) => a.count - b.count);
  return best && best.count <= most ? best.word : undefined;
}

/** How many letters are too many, too few or others, or changed places with their neighbor. O(a · b). */
function typos(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const other = a[i - 1] === b[j - 1] ? 0 : 1;
      row[j] = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + other);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j]!, rows[i - 2]![j - 2]! + 1);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
