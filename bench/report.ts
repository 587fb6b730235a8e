/** Writes the figures into the page, between its markers, and the chart next to it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chart } from './chart';
import type { Row } from './table';

/** A heading, and Markdown. */
export type Part = readonly [heading: string, text: string];

export interface Report {
  readonly date: string;
  /** Sentences about the machine, the conditions and the versions, without full stops. */
  readonly about: readonly string[];
  readonly parts: readonly Part[];
}

/** @param directory the folder of benchmark.md. */
export function writeReport(directory: string, report: Report, rows: readonly Row[]): void {
  const page = join(directory, 'benchmark.md');
  writeFileSync(page, withFigures(readFileSync(page, 'utf8'), reportText(report)));
  if (rows.length > 0) writeFileSync(join(directory, 'benchmark.svg'), chart(rows, report.date));
  console.log(`\nwritten: ${page}`);
}

/** Throws if the page has no markers. */
export function withFigures(page: string, figures: string): string {
  const place = /(<!-- figures: npm run bench -->\n)[^]*?(<!-- \/figures -->)/;
  if (!place.test(page)) throw new Error('benchmark.md has lost its markers');
  return page.replace(place, (_, begin: string, end: string) => `${begin}${figures}\n${end}`);
}

export function reportText({ date, about, parts }: Report): string {
  const sections = parts.map(([heading, text]) => `### ${heading}\n\n${text}`);
  return [`Of ${date}. ${about.join('. ')}.`, ...sections].join('\n\n');
}

/** The locked versions of the other servers' packages. */
export function versionsText(): string {
  const { packages } = JSON.parse(readFileSync(join(__dirname, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string; dependencies?: Record<string, string> }>;
  };
  const names = Object.keys(packages['']!.dependencies!);
  return names.map((name) => `${name} ${packages[`node_modules/${name}`]!.version!}`).join(', ');
}
