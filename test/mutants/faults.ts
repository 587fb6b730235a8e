/**
 * Faults of the source, and the test that must find each; see faults.txt:
 *
 *     === <what is wrong, as a sentence>
 *     <file of the source> <function> @ <test file>: <a part of the title>
 *     -<a line of the function>
 *     +<what replaces it>
 *
 * A function is named with what it is declared in: `Aggregate.#append`, or `bodyReader.receive` for one inside another.
 * A constant at the top of a file may stand in place of a function. White space, line breaks and trailing commas do not
 * count.
 */
import { readFileSync } from 'node:fs';
import ts from 'typescript';

export interface Fault {
  readonly what: string;
  readonly file: string;
  /** The function that has the fault, after the names of the declarations around it. */
  readonly path: readonly string[];
  readonly test: string;
  readonly title: string;
  /** What the function has exactly once, and what it has with the fault. */
  readonly before: string;
  readonly after: string;
}

export const FAULTS: readonly Fault[] = readFileSync('test/mutants/faults.txt', 'utf8')
  .split(/^=== /m)
  .slice(1)
  .map((entry) => {
    const [what, place, ...lines] = entry.trimEnd().split('\n');
    const parts = /^(\S+) (\S+) @ (\S+): (.*)$/.exec(place!);
    if (parts === null)
      throw new Error(`"${what}" needs: <file> <function> @ <test file>: <title>`);
    const [, file, path, test, title] = parts;
    const marked = (mark: string) =>
      lines
        .filter((line) => line.startsWith(mark))
        .map((line) => line.slice(1))
        .join('\n');
    return {
      what: what!,
      file: file!,
      path: path!.split('.'),
      test: test!,
      title: title!,
      before: marked('-'),
      after: marked('+'),
    };
  });

/**
 * The text of its file with the fault. Throws unless the file has exactly one such function, and that has the text to
 * replace exactly once.
 */
export function plantedIn(text: string, { file, path, before, after }: Fault): string {
  const name = path.join('.');
  const functions = file.endsWith('.lua') ? luaFunctions(text, path) : functionsOf(text, path);
  if (functions.length !== 1) throw new Error(`${file} has ${functions.length} functions ${name}`);
  const [start, end] = functions[0]!;
  const places = [...text.slice(start, end).matchAll(patternOf(before))];
  if (places.length !== 1)
    throw new Error(`${name} of ${file} has ${places.length} times:\n${before}`);
  const at = start + places[0]!.index;
  return text.slice(0, at) + after + text.slice(at + places[0]![0].length);
}

type Range = readonly [start: number, end: number];

function functionsOf(text: string, path: readonly string[]): readonly Range[] {
  const file = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest);
  const found = path.reduce<readonly ts.Node[]>(
    (around, name) => around.flatMap((node) => declarationsIn(node, file, name)),
    [file],
  );
  return found.map((node) => [node.getStart(file), node.end]);
}

/** The declarations of this name in `node` that are in no other named declaration within it. */
function declarationsIn(node: ts.Node, file: ts.SourceFile, name: string): readonly ts.Node[] {
  const found: ts.Node[] = [];
  ts.forEachChild(node, function visit(child) {
    const own = nameOf(child, file);
    if (own === undefined) ts.forEachChild(child, visit);
    else if (own === name) found.push(child);
  });
  return found;
}

function nameOf(node: ts.Node, file: ts.SourceFile): string | undefined {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  if (ts.isVariableStatement(node)) return node.declarationList.declarations[0]!.name.getText(file);
  const isNamed =
    ts.isFunctionDeclaration(node) ||
    ts.isClassLike(node) ||
    ts.isClassElement(node) ||
    ts.isObjectLiteralElement(node);
  return isNamed ? node.name?.getText(file) : undefined;
}

function luaFunctions(text: string, [name]: readonly string[]): readonly Range[] {
  const functions = text.matchAll(new RegExp(`^local function ${name}\\b.*?^end$`, 'gms'));
  return [...functions].map((match) => [match.index, match.index + match[0].length]);
}

/** A pattern for the words and signs of `source`, with any white space between them. */
function patternOf(source: string): RegExp {
  const parts = source.match(/\w+|[^\w\s]/g) ?? [];
  // What is formatted on several lines may have a comma after its last part.
  const pattern = parts
    .filter((part, at) => part !== ',' || !/[)\]}]/.test(parts[at + 1] ?? ''))
    .map(
      (part) =>
        (/[)\]}]/.test(part) ? ',?\\s*' : '') + (/\w/.test(part) ? `\\b${part}\\b` : `\\${part}`),
    );
  return new RegExp(pattern.join('\\s*'), 'g');
}
