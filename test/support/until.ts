import { setTimeout as pause } from 'node:timers/promises';

/** Waits for what happens in its own time, such as a file being noticed; for eight seconds at most, unless told otherwise. */
export async function until(happened: () => boolean | Promise<boolean>, withinMs = 8000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await happened())) {
    if (performance.now() > end) throw new Error(`it did not happen: ${happened.toString()}`);
    await pause(5);
  }
}
