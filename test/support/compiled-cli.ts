import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiled } from './compiled';

/** The folder of the command, created once for the whole run by the first suite that needs it. */
let bin: string | undefined;
// This file is loaded outside of any suite, so the hook is the whole run's.
after(() => {
  if (bin !== undefined) rmSync(bin, { recursive: true });
});

/**
 * `plant-store` as it is installed: compiled, in a separate process. For the
 * suite whose body calls this. Processes that still run after a test are ended.
 */
export function compiledCli() {
  const running = new Set<ChildProcess>();

  before(() => {
    bin ??= install();
  });
  afterEach(() => {
    for (const child of running) child.kill('SIGKILL');
  });

  /** Runs `command` in a shell with `plant-store` on its PATH. */
  return (command: string, environment: Readonly<Record<string, string>> = {}, cwd = '.') => {
    const PATH = `${bin!}:${process.env['PATH']!}`;
    const child = spawn('bash', ['--norc', '-c', command], {
      env: { PATH, ...environment },
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    const said = { out: '', error: '' };
    child.stdout.on('data', (chunk) => (said.out += String(chunk)));
    child.stderr.on('data', (chunk) => (said.error += String(chunk)));
    const ended = once(child, 'close').then(([code, signal]) => {
      running.delete(child);
      return { ...said, code: (code ?? signal) as number | string };
    });
    return { child, ended, said };
  };
}

/** Does what npm does with "bin". */
function install(): string {
  const bin = mkdtempSync(join(tmpdir(), 'plant-store-bin-'));
  const command = `#!/bin/sh\nexec '${process.execPath}' '${join(compiled(), 'dist/cli.js')}' "$@"\n`;
  writeFileSync(join(bin, 'plant-store'), command, { mode: 0o755 });
  return bin;
}
