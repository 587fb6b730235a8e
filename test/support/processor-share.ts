import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CONTROL_GROUPS = '/sys/fs/cgroup';
/** Short, so that a process that has used its share does not wait long. Linux refuses quotas below 1 ms. */
const PERIOD_US = 20_000;

/** Limits processes to a share of one core, by a control group of Linux. */
export class ProcessorShare {
  private constructor(private readonly directory: string) {}

  /** `undefined` on a machine where it may not be created: that takes Linux and root. @param share at least 0.05. */
  static create(share: number): ProcessorShare | undefined {
    // Version 1 has a hierarchy for the processor, version 2 has one for all resources.
    const versionOne = existsSync(join(CONTROL_GROUPS, 'cpu'));
    const directory = join(
      CONTROL_GROUPS,
      versionOne ? 'cpu' : '',
      `plant-store-test-${process.pid}-${++created}`,
    );
    const quota = Math.round(share * PERIOD_US);
    try {
      mkdirSync(directory);
      const set = (name: string, value: string) =>
        writeFileSync(join(directory, name), value, { flag: 'r+' });
      if (versionOne) {
        set('cpu.cfs_period_us', String(PERIOD_US));
        set('cpu.cfs_quota_us', String(quota));
      } else {
        set('cpu.max', `${quota} ${PERIOD_US}`);
      }
      return new ProcessorShare(directory);
    } catch {
      if (existsSync(directory)) rmdirSync(directory);
      return undefined;
    }
  }

  add(pid: number): void {
    writeFileSync(join(this.directory, 'cgroup.procs'), String(pid));
  }

  /** After its processes have ended. */
  remove(): void {
    rmdirSync(this.directory);
  }
}

let created = 0;
