/** Refuses words that hide an idea from readers who search for the field's term. */
import { expect } from 'chai';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Files, and folders with every page, module and script in them. */
const PLACES = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'docs', 'src', 'test', 'bench'],
  ...['scripts', 'deploy', '.ci/run', 'Dockerfile', 'compose.yaml'],
];

const NAME_THE_ACTOR = 'name it: the client, the caller, the operator, the instance';
const NAME_THE_VALUE = 'name the values: any input, all bytes, every response';
const ACTIVE = 'say who does what: it returns, reports, logs, requests';

/** The refused words, whole words in any case, and the reason or the word to use. */
const REASONS: Readonly<Record<string, string>> = {
  'whoever|whomever|nobody|somebody|anybody|everybody': NAME_THE_ACTOR,
  'he|him|his|himself': 'clients and things are "it" or "they"',
  whatever: NAME_THE_VALUE,
  '(is|are|was|were|be|been|being) (told|asked)': ACTIVE,
  '(tell|tells|told) of': ACTIVE,
  'bring along|brings along|brought along': 'say: contain, carry, pass',
  'become of|becomes of|became of': 'name the result or the outcome',
  'knock|knocks|knocked|knocking': 'the field has the accept queue, and connections in it',
  'lend|lends|lent|give back|gives back': 'say: acquire and release',
  'in line': 'the field has queues',
  'let go': 'a cache evicts',
  'weigh|weighs': 'an entry of a cache has a size or a cost',
  'ran out of time|run out of time|runs out of time': 'a request times out',
  'of the past|read the past': 'such a read is stale',
  'as the first time': 'the call is idempotent',
  slips: 'say: unknown variables',
  // Not the name of the harness, nor its folder.
  '(?<![/{-]|run |silent )world(?!/)': 'a command has a context',
};

const FORBIDDEN = Object.entries(REASONS).map(
  ([words, reason]) => [new RegExp(`\\b(?:${words.replaceAll(' ', '\\s+')})\\b`, 'gi'), reason] as const,
);

/** The text of a file; of a page without the code in its sentences. */
function textOf(file: string): string {
  const text = readFileSync(file, 'utf8');
  return file.endsWith('.md') ? text.replaceAll(/(?<!`)`[^`\n]+`(?!`)/g, '') : text;
}

function wordsOf(text: string): string[] {
  return FORBIDDEN.flatMap(([words, reason]) =>
    [...text.matchAll(words)].map(
      ({ 0: word, index }) => `line ${text.slice(0, index).split('\n').length}: "${word}" (${reason})`,
    ),
  );
}

function filesIn(place: string): string[] {
  if (!statSync(place).isDirectory()) return [place];
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(md|ts|mjs|sh|lua|cfg)$/.test(name) && !/node_modules|dist\//.test(name))
    .map((name) => join(place, name))
    .filter((file) => file !== relative('.', __filename));
}

describe('The language of the project', () => {
  for (const file of PLACES.flatMap(filesIn)) {
    it(`uses the terms of the field in ${file}`, () => expect(wordsOf(textOf(file))).to.deep.equal([]));
  }

  it('is checked word by word, across lines and in any case', () => {
    const text = 'One\nWhoever is\n  told of `it` knows\nHis world';
    expect(wordsOf(text).map((found) => found.replace(/ \(.*/s, ''))).to.have.members([
      'line 2: "Whoever"',
      'line 4: "His"',
      'line 2: "is\n  told"',
      'line 3: "told of"',
      'line 4: "world"',
    ]);
    expect(wordsOf('The shell inherits a worldwide history.')).to.deep.equal([]);
  });
});
