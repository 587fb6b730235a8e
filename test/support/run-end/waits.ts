// Run by run-end.processes.redis.test.ts.

it('waits until it is ended', async function () {
  this.timeout(0);
  await new Promise((resolve) => setTimeout(resolve, 600_000));
});
