import type { Metric, Registry } from 'prom-client';

/** Seconds: from a round trip in memory to the longest time that STORE_TIMEOUT_MS usually allows. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** One set of label values of a {@link Durations}. */
class Series {
  readonly counts = new Float64Array(BOUNDS.length + 1);
  sum = 0;

  constructor(readonly labels: Readonly<Record<string, string>>) {}

  observe(seconds: number): void {
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > BOUNDS[bucket]!) bucket++;
    this.counts[bucket]! += 1;
    this.sum += seconds;
  }
}

/**
 * A histogram of durations, as prom-client exports them. Its own takes a
 * microsecond to observe a labelled value, for it checks and joins the labels
 * each time; here they are joined to one key, and a value costs a tenth of it.
 */
export class Durations {
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #series = new Map<string, Series>();

  constructor(
    readonly name: string,
    readonly help: string,
    private readonly labelNames: readonly string[],
    registry: Registry,
  ) {
    registry.registerMetric(this as unknown as Metric);
  }

  /** @param labels a value for each label, of a bounded set: each combination is kept for ever. No spaces within. */
  observe(seconds: number, ...labels: readonly string[]): void {
    const key = labels.join(' ');
    let series = this.#series.get(key);
    if (series === undefined) {
      series = new Series(Object.fromEntries(this.labelNames.map((name, index) => [name, labels[index]!])));
      this.#series.set(key, series);
    }
    series.observe(seconds);
  }

  /** What prom-client asks each of its metrics for. */
  get() {
    const { name, help, type, aggregator } = this;
    const values = [...this.#series.values()].flatMap(({ labels, counts, sum }) => {
      let count = 0;
      const buckets = [...BOUNDS, '+Inf'].map((le, bucket) => ({
        metricName: `${name}_bucket`,
        labels: { le, ...labels },
        value: (count += counts[bucket]!),
      }));
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    });
    return Promise.resolve({ name, help, type, aggregator, values });
  }
}
