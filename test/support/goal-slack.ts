/**
 * By how much a measured goal may be missed: on a machine that others use as well, only gross misses count.
 * `.ci/run` sets it; the goals themselves are those without it.
 */
export const goalSlack = Number(process.env['GOAL_SLACK'] ?? 1);
