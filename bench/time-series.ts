/** Panels of values over time in SVG, two in a row, each with a vertical axis of its own that begins at 0. */
import { type Panel, WIDTH, escaped, svgPage } from './plot';
import { quantile } from './statistics';

const TOP = 40;
const HEIGHT = 130;
/** Above the plot its title and lines, below it the labels of the axis. */
const [HEAD, FOOT] = [44, 30];
const LEFT = 52;
const GAP = 14;
const COLUMN = WIDTH / 2;
const PLOT = COLUMN - LEFT - GAP;

/** @param minutes when the values of all lines were taken. */
export function timeSeries(title: string, minutes: readonly number[], panels: readonly Panel[]): string {
  const last = minutes.at(-1)!;
  const content = panels.map((panel, index) => {
    const left = (index % 2) * COLUMN + LEFT;
    const top = TOP + Math.floor(index / 2) * (HEAD + HEIGHT + FOOT) + HEAD;
    return drawn(panel, left, top, (minute) => left + (minute / last) * PLOT, minutes);
  });
  const rows = Math.ceil(panels.length / 2);
  return svgPage(title, describe(last, panels), TOP + rows * (HEAD + HEIGHT + FOOT), content);
}

function drawn(
  { title, lines }: Panel,
  left: number,
  top: number,
  x: (minute: number) => number,
  minutes: readonly number[],
): string {
  const most = Math.max(...lines.flatMap(({ values }) => values));
  const high = axisEnd(most);
  const y = (value: number) => top + HEIGHT - (value / high) * HEIGHT;
  const grid = [0, high / 2, high].map(
    (tick) =>
      `<line class="grid" x1="${left}" x2="${left + PLOT}" y1="${y(tick)}" y2="${y(tick)}"/>` +
      `<text class="small" x="${left - 6}" y="${y(tick) + 4}" text-anchor="end">${tick}</text>`,
  );
  const last = minutes.at(-1)!;
  const labels = [0, last / 2, last].map((minute, index) => {
    const anchor = ['start', 'middle', 'end'][index]!;
    return `<text class="small" x="${x(minute).toFixed(1)}" y="${top + HEIGHT + 16}" text-anchor="${anchor}">${Number(minute.toFixed(1))} min</text>`;
  });
  const paths = lines.map(({ title: name, values }, index) => {
    const points = values.map((value, at) => `${x(minutes[at]!).toFixed(1)},${y(value).toFixed(1)}`);
    const legend = left + index * 130;
    return (
      `<polyline class="line${index}" points="${points.join(' ')}"/>` +
      `<line class="line${index}" x1="${legend}" x2="${legend + 28}" y1="${top - 14}" y2="${top - 14}"/>` +
      `<text class="small" x="${legend + 34}" y="${top - 10}">${escaped(name)}</text>`
    );
  });
  const heading = `<text class="panel" x="${left}" y="${top - 28}">${escaped(title)}</text>`;
  return [heading, ...grid, ...labels, ...paths].join('');
}

/** The end of an axis for values up to `most`: a multiple of half a power of ten. */
export function axisEnd(most: number): number {
  // All values are 0: any axis will do.
  if (most <= 0) return 1;
  const half = 10 ** Math.floor(Math.log10(most)) / 2;
  return Math.ceil(most / half) * half;
}

/** For screen readers, which cannot use hundreds of values. */
function describe(last: number, panels: readonly Panel[]): string {
  const lines = panels.flatMap(({ title, lines: each }) =>
    each.map(({ title: name, values }) => {
      const [first, least, middle, most, end] = [
        values[0]!,
        ...[0, 0.5, 1].map((share) => quantile(values, share)),
        values.at(-1)!,
      ].map((value) => Number(value.toPrecision(3)));
      return `${title}, ${name}: ${first} at first, ${end} at the end, median ${middle}, from ${least} to ${most}.`;
    }),
  );
  return `${Number(last.toFixed(1))} minutes. ${lines.join(' ')}`;
}
