/**
 * Packs the library: `npm run pack`, with the options of `npm pack`. It packs what the `files` of package.json name, with the
 * links of the pages changed by `packedPage`. The `homepage` of package.json is the address of the documentation.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packedPage } from './packed-page';

const { homepage } = JSON.parse(readFileSync('package.json', 'utf8')) as { homepage?: string };
const place = mkdtempSync(join(tmpdir(), 'plant-store-library-'));
process.on('exit', () => rmSync(place, { recursive: true, force: true }));

execFileSync('npm', ['run', '--silent', 'prepack'], { stdio: 'inherit' });
const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
  maxBuffer: 2 ** 26,
});
const [{ files }] = JSON.parse(listed.toString()) as [{ files: readonly { readonly path: string }[] }];
const paths = files.map(({ path }) => path);
const isPacked = (file: string) => paths.some((path) => `${path}/`.startsWith(`${file}/`));
for (const path of paths) {
  cpSync(path, join(place, path));
  if (path.endsWith('.md'))
    writeFileSync(join(place, path), packedPage(readFileSync(path, 'utf8'), path, isPacked, homepage));
}
execFileSync('npm', ['pack', place, '--ignore-scripts', ...process.argv.slice(2)], { stdio: 'inherit' });
