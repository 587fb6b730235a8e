import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Inside the project, so that Node finds its packages. */
const CACHE = 'node_modules/.cache/plant-store';

/** The service's main script, see {@link compiled}. */
export function compiledMain(): string {
  return join(compiled(), 'dist/main.js');
}

/**
 * A folder with the project compiled as for production, for tests that start
 * processes: they start much faster than from source.
 * Created once for each state of the source. Types are checked elsewhere.
 */
export function compiled(): string {
  const state = stateOfSource();
  const out = join(CACHE, state);
  if (!existsSync(out)) {
    const making = `${out}.${process.pid}`;
    const less = [
      '--noCheck',
      ...['declaration', 'sourceMap', 'inlineSources'].flatMap((o) => [`--${o}`, 'false']),
    ];
    const tsc = require.resolve('typescript/bin/tsc');
    execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', ...less, '--outDir', `${making}/dist`]);
    copyFileSync('package.json', join(making, 'package.json'));
    try {
      renameSync(making, out);
    } catch (error) {
      // Another run created it first.
      if (!existsSync(out)) throw error;
      rmSync(making, { recursive: true });
    }
    for (const other of readdirSync(CACHE)) {
      if (!other.startsWith(state)) rmSync(join(CACHE, other), { recursive: true, force: true });
    }
  }
  return resolve(out);
}

function stateOfSource(): string {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('src', name));
  const hash = createHash('sha256');
  for (const file of [...sources.sort(), 'package.json', 'tsconfig.json', 'tsconfig.build.json']) {
    hash.update(`${file}\n`).update(readFileSync(file));
  }
  return hash.digest('hex').slice(0, 16);
}
