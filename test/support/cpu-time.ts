/**
 * How much processor time `work` took, in milliseconds. Unlike the time on the
 * wall it does not grow while the machine is busy with something else.
 */
export function cpuMilliseconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
