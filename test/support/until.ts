import { setTimeout as pause } from 'node:timers/promises';

/** Waits for what happens in its own time, such as a file being noticed. The test's own time limit ends it. */
export async function until(happened: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await happened())) await pause(5);
}
