/**
 * The list that the servers with fixed answers have: 100 plants, as run.ts creates them elsewhere.
 */
export const LIST = JSON.stringify(
  Array.from({ length: 100 }, (_, index) => ({ name: `plant-${index + 1}`, tag: 'indoor' })),
);
