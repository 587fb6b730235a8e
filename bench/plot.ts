/** Line plots in SVG, one panel beside the other, for light and dark pages, for paper and for screen readers. */
export interface PlotLine {
  readonly title: string;
  /** One for each label of the horizontal axis; above 0. Those that were not measured are at the end. */
  readonly values: readonly number[];
}

export interface Panel {
  readonly title: string;
  readonly lines: readonly PlotLine[];
}

export const WIDTH = 900;
const TOP = 104;
const HEIGHT = 220;
const LEFT = 46;
const GAP = 24;
/** Distinguishable in print and by readers who see no colours: each line also has its own dashes. */
const STYLES = ['', '7 4', '2 3', '9 3 2 3'];

/** All panels have the same axes; the vertical one is logarithmic. The lines have the same order in all panels. */
export function plot(title: string, labels: readonly string[], panels: readonly Panel[]): string {
  const values = panels.flatMap(({ lines }) => lines.flatMap((line) => line.values));
  const ticks = ticksOf(Math.min(...values), Math.max(...values));
  const [low, high] = [Math.log(ticks[0]!), Math.log(ticks.at(-1)!)];
  const y = (value: number) => TOP + HEIGHT - ((Math.log(value) - low) / (high - low)) * HEIGHT;
  const width = (WIDTH - LEFT - GAP * panels.length) / panels.length;
  const x = (panel: number, label: number) =>
    LEFT + panel * (width + GAP) + ((label + 0.5) / labels.length) * width;

  const grid = ticks.map(
    (tick) =>
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - GAP}" y1="${y(tick).toFixed(1)}" y2="${y(tick).toFixed(1)}"/>` +
      `<text class="small" x="${LEFT - 6}" y="${(y(tick) + 4).toFixed(1)}" text-anchor="end">${tick}</text>`,
  );
  const drawn = panels.map(({ title: name, lines }, panel) => {
    const texts = labels.map(
      (label, index) =>
        `<text class="small" x="${x(panel, index).toFixed(1)}" y="${TOP + HEIGHT + 18}" text-anchor="middle">${escaped(label)}</text>`,
    );
    const paths = lines.map((line, index) => {
      const points = line.values.map((value, at) => `${x(panel, at).toFixed(1)},${y(value).toFixed(1)}`);
      return `<polyline class="line${index}" points="${points.join(' ')}"/>`;
    });
    const middle = LEFT + panel * (width + GAP) + width / 2;
    return `<text class="panel" x="${middle.toFixed(1)}" y="${TOP - 12}" text-anchor="middle">${escaped(name)}</text>${texts.join('')}${paths.join('')}`;
  });
  // In two columns.
  const legend = panels[0]!.lines.map(({ title: name }, index) => {
    const left = LEFT + (index % 2) * (WIDTH / 2);
    const top = 46 + Math.floor(index / 2) * 18;
    return (
      `<line class="line${index}" x1="${left}" x2="${left + 28}" y1="${top}" y2="${top}"/>` +
      `<text class="small" x="${left + 34}" y="${top + 4}">${escaped(name)}</text>`
    );
  });
  return svgPage(title, describe(labels, panels), TOP + HEIGHT + 34, [...legend, ...grid, ...drawn]);
}

/** A picture with its title above its `content`, which may use the classes of the style. */
export function svgPage(
  title: string,
  description: string,
  height: number,
  content: readonly string[],
): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title desc">
<title id="title">${escaped(title)}</title>
<desc id="desc">${escaped(description)}</desc>
<style>
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .small { font-size: 11px; } .panel { font-weight: 700; }
  .grid { stroke: #818b9855; }
  ${STYLES.map((dashes, index) => `.line${index} { fill: none; stroke-width: 2; stroke: ${LIGHT[index]};${dashes && ` stroke-dasharray: ${dashes};`} }`).join('\n  ')}
  @media (prefers-color-scheme: dark) { text { fill: #f0f6fc; } ${DARK.map((colour, index) => `.line${index} { stroke: ${colour}; }`).join(' ')} }
</style>
<text x="8" y="24">${escaped(title)}</text>
${content.join('\n')}
</svg>
`;
}

const LIGHT = ['#0969da', '#bf8700', '#1a7f37', '#8250df'];
const DARK = ['#4493f8', '#d29922', '#3fb950', '#ab7df8'];

/** 1, 2 and 5 times powers of ten, from at most `low` to at least `high`. */
function ticksOf(low: number, high: number): number[] {
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); ; power++) {
    for (const step of [1, 2, 5]) {
      const tick = Number(`${step}e${power}`);
      if (tick <= low) ticks.length = 0;
      ticks.push(tick);
      if (tick >= high && ticks.length > 1) return ticks;
    }
  }
}

function describe(labels: readonly string[], panels: readonly Panel[]): string {
  const lines = panels.flatMap(({ title, lines: each }) =>
    each.map((line) => {
      const values = line.values.map((value, index) => `${labels[index]} ${value.toPrecision(3)}`);
      return `${title}, ${line.title}: ${values.join(', ')}.`;
    }),
  );
  return lines.join(' ');
}

/** For text in XML, without the backquotes of Markdown. */
export function escaped(text: string): string {
  return text.replaceAll('`', '').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
