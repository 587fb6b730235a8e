/** The machine of the benchmark: its description, and the placement of processes on its cores. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

const CORES = cpus().length;

/** The cores of each process. The load has all other cores; with two cores Redis shares one with it. */
export interface Placement {
  readonly server: string | undefined;
  readonly load: string | undefined;
  readonly redis: string | undefined;
  readonly redisHasOwnCore: boolean;
}

export function placement(cores = CORES, pinning = has('taskset')): Placement {
  if (!pinning || cores < 2) {
    return { server: undefined, load: undefined, redis: undefined, redisHasOwnCore: false };
  }
  const last = cores - 1;
  if (cores === 2) return { server: '1', load: '0', redis: '0', redisHasOwnCore: false };
  return {
    server: String(last),
    load: cores === 3 ? '0' : `0-${last - 2}`,
    redis: String(last - 1),
    redisHasOwnCore: true,
  };
}

/** The command line that runs `command` on these cores. */
export function pinned(core: string | undefined, command: readonly string[]): [string, string[]] {
  const [program = '', ...args] = core === undefined ? command : ['taskset', '-c', core, ...command];
  return [program, args];
}

export function has(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Processor seconds that a process has used so far; `undefined` without /proc. */
export function cpuSeconds(pid: number): number | undefined {
  try {
    // The second field is the name in brackets, which may contain any character.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return undefined;
  }
}

export function machineText(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const memory = Math.round(totalmem() / 2 ** 30);
  const kind = isVirtual() ? ', virtual' : '';
  return `${CORES} × ${model}${kind}, ${memory} GB, ${process.platform} ${process.arch}, Node ${process.version}`;
}

/** The name of the processor from /proc, if there is one. */
function isVirtual(): boolean {
  try {
    return readFileSync('/proc/cpuinfo', 'utf8').includes(' hypervisor ');
  } catch {
    return false;
  }
}
