import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** All pages, relative to the project's folder. */
export const PAGES: readonly string[] = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join('docs', name)),
];

/** A fenced block of code in a page. */
export interface Block {
  readonly page: string;
  /** The number of its first line, 1 or more. */
  readonly line: number;
  /** The info string: a language, and optionally a mark that selects how the block is run. */
  readonly kind: string;
  readonly text: string;
}

export function blocks(): Block[] {
  return PAGES.flatMap((page) => {
    const source = readFileSync(page, 'utf8');
    return [...source.matchAll(/^( *)(`{3,}|~{3,})(.*)\n([^]*?)^ *\2 *$/gm)].map((match) => {
      const [, indent = '', , kind = '', text = ''] = match;
      return {
        page,
        line: source.slice(0, match.index).split('\n').length,
        kind: kind.trim(),
        text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      };
    });
  });
}

export function placeOf({ page, line }: Block): string {
  return `${page}:${line}`;
}

/** The texts of a page's blocks of one kind, joined. Throws if there is none. */
export function commandsOf(page: string, kind = 'sh package'): string {
  const found = blocks().filter((block) => block.page === page && block.kind === kind);
  if (found.length === 0) throw new Error(`${page} has no block of the kind ${kind}`);
  return found.map(({ text }) => text).join('');
}
