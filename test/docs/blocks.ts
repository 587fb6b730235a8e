import { readFileSync, readdirSync } from 'node:fs';

/** A fenced block of code in a page. */
export interface Block {
  readonly page: string;
  /** The info string: a language, and optionally a mark that selects how the block is run. */
  readonly kind: string;
  readonly text: string;
}

/** README and the pages of docs. */
const PAGES = [
  'README.md',
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** The code blocks of all pages, or of one. */
export function blocks(pages: readonly string[] = PAGES): Block[] {
  return pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/^( *)```(.*)\n([^]*?)^ *``` *$/gm)].map(
      ([, indent = '', kind = '', text = '']) => ({
        page,
        kind: kind.trim(),
        text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      }),
    ),
  );
}

/** The text of the only block of this kind. */
export function theBlock(kind: string): string {
  const [block, another] = blocks().filter((each) => each.kind === kind);
  if (block === undefined || another !== undefined)
    throw new Error(`there must be one block of the kind ${kind}`);
  return block.text;
}
