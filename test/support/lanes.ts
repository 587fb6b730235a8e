/** Starts these tasks in order, a few at a time. Returns a promise for each of them. */
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
