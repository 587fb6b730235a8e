/** Starts the tasks in order, `lanes` of them at the same time. Returns a promise for each task. */
export function inLanes<T>(tasks: readonly (() => Promise<T>)[], lanes = 2): Promise<T>[] {
  const waiting: (() => void)[] = [];
  let free = lanes;
  return tasks.map(async (task) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  });
}
