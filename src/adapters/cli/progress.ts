import type { Clock } from '../../event-sourcing';
import type { Output } from './terminal';

const REDRAW_MS = 100;
const LINE_MS = 5000;
const BAR_WIDTH = 24;
const ERASE_LINE = '\r\u001b[K';

/** Shows the progress of a long operation. `total` is 0 if unknown; otherwise the remaining time is estimated. */
export interface Progress {
  advance(done: number, total: number): Promise<void>;
  /** Erases the bar. Call it before other output. */
  end(): Promise<void>;
}

export const NO_PROGRESS: Progress = { advance: async () => {}, end: async () => {} };

/** On a terminal a bar that is redrawn; elsewhere a line every {@link LINE_MS}. */
export function progressOn(output: Output, clock: Clock, what: string): Progress {
  const began = clock.now();
  let last = began;
  let drawn = false;
  return {
    async advance(done, total) {
      const now = clock.now();
      if (now - last < (output.isTerminal ? REDRAW_MS : LINE_MS)) return;
      last = now;
      const text = describeProgress(what, done, total, now - began);
      if (!output.isTerminal) return output.line(text);
      drawn = true;
      // The bar is as wide as the text allows, because the remaining time is at the end of the text.
      const width = Math.min(BAR_WIDTH, output.columns - 1 - text.length - '[] '.length);
      const bar = total > 0 && width > 0 ? `${barOf(done / total, width)} ` : '';
      return output.write(`${ERASE_LINE}${`${bar}${text}`.slice(0, output.columns - 1)}`);
    },
    async end() {
      if (drawn) await output.write(ERASE_LINE);
      drawn = false;
    },
  };
}

function describeProgress(what: string, done: number, total: number, elapsedMs: number): string {
  const perSecond = Math.round((done / elapsedMs) * 1000);
  if (total === 0) return `${what}: ${done}, ${perSecond} a second`;
  const share = Math.floor((Math.min(done, total) / total) * 100);
  const leftMs = done === 0 ? Infinity : (Math.max(total - done, 0) / done) * elapsedMs;
  return `${what}: ${done} of ${total} (${share} %), ${perSecond} a second${describeTimeLeft(leftMs)}`;
}

/** The remaining time, rounded up, in its two largest units. */
function describeTimeLeft(ms: number): string {
  if (ms === Infinity) return '';
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `, ${seconds} s left`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `, ${minutes} min ${seconds % 60} s left`;
  return `, ${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
}

function barOf(share: number, width: number): string {
  const full = Math.round(Math.min(share, 1) * width);
  return `[${'#'.repeat(full)}${'-'.repeat(width - full)}]`;
}
