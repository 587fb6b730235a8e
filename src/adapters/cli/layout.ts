/** The width of a terminal that every text for people fits. */
const WIDTH = 80;

/** Two columns, the second wrapped under itself. */
export function columns(rows: readonly (readonly [left: string, right: string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.flatMap(([left, right]) => wrap(right, `  ${left.padEnd(width)}  `, ' '.repeat(width + 4)));
}

/** Joins the lines of each paragraph and wraps them. Empty lines and those that begin with a space stay as they are. */
export function paragraphs(lines: readonly string[]): string[] {
  const isKept = (line: string) => line === '' || line.startsWith(' ');
  return lines
    .map((line, index) => {
      const next = lines[index + 1];
      return isKept(line) || next === undefined || isKept(next) ? `${line}\n` : `${line} `;
    })
    .join('')
    .slice(0, -1)
    .split('\n')
    .flatMap((line) => (isKept(line) ? [line] : wrap(line)));
}

/** Lines that begin with `first`, then with `indent`. A word that is longer than a line has one of its own. */
export function wrap(text: string, first = '', indent = first): string[] {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(' ')) {
    if (!isEmpty && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = indent;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}
