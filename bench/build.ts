/** Makes ready what is measured: the peers' packages, and their code compiled. The service is compiled by its tests' own means. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export function installPackages(): void {
  if (existsSync(join(__dirname, 'node_modules/.package-lock.json'))) return;
  console.log("installing the peers' packages into bench/node_modules …");
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['ci', '--prefix', __dirname, ...quiet], { stdio: 'inherit' });
}

/** Into bench/dist. Types are checked where `check` says so: that needs the packages. */
export function compileServers(check = false): void {
  const tsc = require.resolve('typescript/bin/tsc');
  const less = check ? [] : ['--noCheck'];
  execFileSync(process.execPath, [tsc, '-p', join(__dirname, 'tsconfig.json'), ...less], {
    stdio: 'inherit',
  });
}
