import { expect } from 'chai';
import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { Durations } from '../../../src/adapters/metrics/durations';

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

describe('A histogram of durations', () => {
  it('is exported exactly as a histogram of prom-client', async () => {
    const seconds = fc.oneof(fc.constantFrom(...BUCKETS), fc.double({ min: 0, max: 10, noNaN: true }));
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
          buckets: BUCKETS,
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
