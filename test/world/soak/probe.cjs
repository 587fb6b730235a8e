// Preloaded into the service of a soak: on SIGUSR2 it collects the garbage, and prints the memory that is left.
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

process.on('SIGUSR2', () => {
  gc();
  const { heapUsed, external } = process.memoryUsage();
  process.stdout.write(`${JSON.stringify({ afterGc: { heap: heapUsed, external } })}\n`);
});
