import { expect } from 'chai';
import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { variables } from '../../../src/service/config';
import { BOUNDS, Durations } from '../../../src/adapters/metrics/durations';

describe('A histogram of durations', () => {
  it('has buckets up to the largest STORE_TIMEOUT_MS', () => {
    const { meaning } = variables.find(({ name }) => name === 'STORE_TIMEOUT_MS')!;
    expect(meaning).to.contain(`… ${1000 * BOUNDS.at(-1)!})`);
  });

  it('is exported exactly as a histogram of prom-client', async () => {
    const seconds = fc.oneof(fc.constantFrom(...BOUNDS), fc.double({ min: 0, max: 100, noNaN: true }));
    const observation = fc.tuple(
      seconds,
      fc.constantFrom('GET', 'POST'),
      fc.constantFrom('200', '503', '"\\\n'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(observation, { maxLength: 50 }), async (observations) => {
        const [ours, theirs] = [new Registry(), new Registry()];
        const labelNames = ['method', 'status'];
        const durations = new Durations('some_seconds', 'Help', labelNames, ours);
        const histogram = new Histogram({
          name: 'some_seconds',
          help: 'Help',
          labelNames,
          buckets: [...BOUNDS],
          registers: [theirs],
        });
        for (const [value, method, status] of observations) {
          durations.observe(value, method, status);
          histogram.observe({ method, status }, value);
        }
        expect(await ours.metrics()).to.equal(await theirs.metrics());
      }),
      { numRuns: 100 },
    );
  });
});
