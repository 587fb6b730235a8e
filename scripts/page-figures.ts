/** Writes measured figures into a page, between the markers that name the command which measures them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';

/** Throws if the page has no markers `<!-- name: … -->` and `<!-- /name -->`. */
export function withFigures(page: string, name: string, figures: string): string {
  const place = new RegExp(`(<!-- ${name}: [^\\n]* -->\\n)[^]*?(<!-- /${name} -->)`);
  if (!place.test(page)) throw new Error(`the page has no markers of ${name}`);
  return page.replace(place, (_, begin: string, end: string) => `${begin}${figures}\n${end}`);
}

export function writeFigures(page: string, name: string, figures: string): void {
  writeFileSync(page, withFigures(readFileSync(page, 'utf8'), name, figures));
  console.log(`written: ${page}`);
}

/** The date, the machine, its load and the version of Redis, without a full stop. */
export function conditionsText(redis: string): string {
  const date = new Date().toISOString().slice(0, 10);
  const processor = cpus()[0]?.model.trim() ?? 'an unknown processor';
  return `Of ${date}, on ${availableParallelism()} cores (${processor}) with a load of ${Math.round(loadavg()[1]!)}, ${redis}`;
}
