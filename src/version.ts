import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The version of the package, such as `0.1.0`. */
export function packageVersion(): string {
  const manifest = readFileSync(join(__dirname, '../package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
