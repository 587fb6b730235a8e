// What ts-node and the tests transpile with: TypeScript, and a cache of its results, because most files have not changed
// since the last run. A file is transpiled alone, so its result depends on nothing but its text, this file and the compiler.
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const ts = require('typescript');

const CACHE = join(__dirname, '../node_modules/.cache/transpiled');
const COMPILER = ts.version + readFileSync(__filename, 'utf8');
mkdirSync(CACHE, { recursive: true });
const compilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.CommonJS,
  esModuleInterop: true,
  sourceMap: true,
};

/** Returns `outputText` and `sourceMapText`. */
exports.transpile = (input, { fileName }) => {
  const key = createHash('sha1').update(COMPILER).update(input).digest('hex');
  const file = join(CACHE, key);
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    const { outputText, sourceMapText } = ts.transpileModule(input, { fileName, compilerOptions });
    // Under another name first, because other runs read the cache at the same time.
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, JSON.stringify({ outputText, sourceMapText }));
    renameSync(draft, file);
    return { outputText, sourceMapText };
  }
};

exports.create = () => ({ transpile: exports.transpile });
