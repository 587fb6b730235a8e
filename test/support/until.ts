import { setTimeout as pause } from 'node:timers/promises';

/** Waits for what happens in its own time, such as a file being noticed; for five seconds at most. */
export async function until(happened: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 5000;
  while (!(await happened())) {
    if (performance.now() > end) throw new Error(`it did not happen: ${happened.toString()}`);
    await pause(5);
  }
}
