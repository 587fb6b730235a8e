/** The table as a bar chart in SVG, for light and dark pages, for paper and for screen readers. */
import { METHODS } from './compare';
import { escaped } from './plot';
import type { TableRow } from './table';

const WIDTH = 940;
const LABELS = 380;
const VALUES = 60;
const TOP = 74;
const BAR = 9;
const ROW = METHODS.length * BAR + 13;

/** @param date of the figures, as text. */
export function chart(rows: readonly TableRow[], date: string): string {
  const most = Math.max(
    1,
    ...rows.flatMap(({ byMethod }) => METHODS.map((method) => byMethod[method].rate.median)),
  );
  const scale = (WIDTH - LABELS - VALUES) / most;
  const height = TOP + rows.length * ROW + 14;
  const one = LABELS + scale;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title desc">
<title id="title">Requests a second, as a ratio to a bare node:http server, ${escaped(date)}</title>
<desc id="desc">${escaped(rows.map(describe).join(' '))}</desc>
<style>
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .small { font-size: 9px; }
  .ours { font-weight: 700; }
  .GET { fill: #0969da; } .POST { fill: #bf8700; } .DELETE { fill: #1a7f37; }
  line { stroke: #818b98; stroke-dasharray: 3 3; }
  @media (prefers-color-scheme: dark) { text { fill: #f0f6fc; } .GET { fill: #4493f8; } .POST { fill: #d29922; } .DELETE { fill: #3fb950; } }
</style>
<text x="8" y="24">Requests a second, bare node:http = 1 (${escaped(date)}); longer is better</text>
${METHODS.map((method, index) => `<rect class="${method}" x="${8 + index * 90}" y="40" width="12" height="12"/><text x="${26 + index * 90}" y="51">${method}</text>`).join('\n')}
<line x1="${one.toFixed(1)}" y1="${TOP - 8}" x2="${one.toFixed(1)}" y2="${height - 8}"/>
${rows.map((row, index) => bars(row, TOP + index * ROW, scale)).join('\n')}
</svg>
`;
}

function bars({ name, title, byMethod }: TableRow, top: number, scale: number): string {
  const ours = name.startsWith('plant-store') ? ' class="ours"' : '';
  const label = `<text${ours} x="${LABELS - 10}" y="${top + 18}" text-anchor="end">${escaped(title)}</text>`;
  const each = METHODS.map((method, index) => {
    const ratio = byMethod[method].rate.median;
    const width = Math.max(1, ratio * scale);
    const y = top + index * BAR;
    const bar = `<rect class="${method}" x="${LABELS}" y="${y}" width="${width.toFixed(1)}" height="${BAR - 1}"/>`;
    return `${bar}<text class="small" x="${(LABELS + width + 4).toFixed(1)}" y="${y + 8}">${ratio.toFixed(2)}</text>`;
  });
  return [label, ...each].join('');
}

function describe({ title, byMethod }: TableRow): string {
  const ratios = METHODS.map((method) => `${method} ${byMethod[method].rate.median.toFixed(2)}`);
  return `${title}: ${ratios.join(', ')}.`;
}
