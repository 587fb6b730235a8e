import { setTimeout as pause } from 'node:timers/promises';

/** Less than a test may take, so that it says what did not happen. */
const GIVES_UP_AFTER_MS = 50_000;

/** Waits for what happens in its own time, such as a file being noticed. Gives up only where it hangs, unless told otherwise. */
export async function until(
  happened: () => boolean | Promise<boolean>,
  withinMs = GIVES_UP_AFTER_MS,
): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await happened())) {
    if (performance.now() > end) throw new Error(`it did not happen: ${happened.toString()}`);
    await pause(5);
  }
}
