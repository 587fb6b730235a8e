/** The table and the picture of docs/benchmark.md. */
import { type Operation } from './server';

export const OPERATIONS: readonly Operation[] = ['GET', 'POST', 'DELETE'];

/** A row of the table. */
export interface Row {
  readonly title: string;
  readonly cells: Readonly<Record<Operation, Cell>>;
}

export interface Cell {
  /** Above 1: plant-store is better. */
  readonly ratio: number;
  /** What stands in the table. */
  readonly text: string;
}

export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(({ title, cells }) => [
    title,
    ...OPERATIONS.map((each) => cells[each].text),
  ]);
  const head = [
    ['', ...OPERATIONS],
    ['---', ...OPERATIONS.map(() => '--:')],
  ];
  return [...head, ...lines].map((columns) => `| ${columns.join(' | ')} |`).join('\n');
}

const [WIDTH, LEFT, BAR, TOP, LARGEST] = [900, 370, 14, 34, 3];
const COLORS: Readonly<Record<Operation, string>> = {
  GET: '#2f6f4f',
  POST: '#c07f2b',
  DELETE: '#4b6ea8',
};

/** The ratios as bars, on any background. */
export function pictureOf(rows: readonly Row[]): string {
  const group = OPERATIONS.length * BAR + 16;
  const height = TOP + rows.length * group;
  const x = (ratio: number) => LEFT + (Math.min(ratio, LARGEST) / LARGEST) * (WIDTH - LEFT - 60);
  const text = (left: number, top: number, content: string, anchor = 'start') =>
    `<text x="${left}" y="${top}" text-anchor="${anchor}">${content}</text>`;
  const bars = rows.flatMap(({ title, cells }, row) => [
    text(LEFT - 10, TOP + row * group + 1.5 * BAR + 4, escaped(title), 'end'),
    ...OPERATIONS.flatMap((operation, index) => {
      const [top, { ratio }] = [TOP + row * group + index * BAR, cells[operation]];
      const width = (x(ratio) - LEFT).toFixed(1);
      return [
        `<rect x="${LEFT}" y="${top}" width="${width}" height="${BAR - 2}" fill="${COLORS[operation]}"/>`,
        text(Math.round(x(ratio)) + 5, top + BAR - 3, `${operation} ${ratio.toFixed(2)}`),
      ];
    }),
  ]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    '<style>text{fill:#1b1f23}line{stroke:#1b1f23}' +
      '@media(prefers-color-scheme:dark){text{fill:#e6edf3}line{stroke:#e6edf3}}</style>',
    text(
      Math.round(x(1)),
      16,
      '1: as much processor time as the other. A longer bar is better',
      'middle',
    ),
    ...bars,
    `<line x1="${x(1)}" x2="${x(1)}" y1="24" y2="${height - 8}" stroke-dasharray="4 3"/>`,
    '</svg>',
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
