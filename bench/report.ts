/** Writes the figures into the page, between its markers, and its pictures and data next to it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFigures } from '../scripts/page-figures';

/** A part of the page. */
export interface Section {
  /** Markdown. */
  readonly text: string;
  /** Its pictures in SVG and its data, by file name. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface BenchmarkReport {
  readonly date: string;
  /** Sentences about the machine, the conditions and the versions, without full stops. */
  readonly about: readonly string[];
  /** By heading, in the order of the page. */
  readonly sections: readonly (readonly [heading: string, section: Section])[];
}

/** @param directory the folder of benchmark.md. */
export function writeReport(directory: string, report: BenchmarkReport): void {
  const page = join(directory, 'benchmark.md');
  writeFigures(page, 'figures', reportText(report));
  for (const [, { files = {} }] of report.sections)
    for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
}

export function reportText({ date, about, sections }: BenchmarkReport): string {
  const texts = sections.map(([heading, { text }]) => `### ${heading}\n\n${text}`);
  return [`Of ${date}. ${about.join('. ')}.`, ...texts].join('\n\n');
}

/** The locked versions of the other servers' packages. */
export function versionsText(): string {
  const { packages } = JSON.parse(readFileSync(join(__dirname, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string; dependencies?: Record<string, string> }>;
  };
  const names = Object.keys(packages['']!.dependencies!);
  return names.map((name) => `${name} ${packages[`node_modules/${name}`]!.version!}`).join(', ');
}
