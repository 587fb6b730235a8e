/** Installs the packages of the other servers and compiles their code. The helpers of the tests compile the service. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export function installPackages(): void {
  if (existsSync(join(__dirname, 'node_modules/.package-lock.json'))) return;
  console.log('installing the packages of the other servers into bench/node_modules …');
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['ci', '--prefix', __dirname, ...quiet], { stdio: 'inherit' });
}

/** Compiles into bench/dist. `check` also checks the types, which needs the packages. */
export function compileServers(check = false): void {
  const tsc = require.resolve('typescript/bin/tsc');
  const less = check ? [] : ['--noCheck'];
  execFileSync(process.execPath, [tsc, '-p', join(__dirname, 'tsconfig.json'), ...less], {
    stdio: 'inherit',
  });
}
