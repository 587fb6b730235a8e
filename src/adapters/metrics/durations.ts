import type { Metric, Registry } from 'prom-client';

/** Upper bounds of the buckets, in seconds, up to the largest STORE_TIMEOUT_MS. */
export const BOUNDS = [
  ...[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  ...[5, 10, 20, 30, 60],
];

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

/** The series whose labels begin with the same values. A tree, because a key of all labels would be built each time. */
class Branch {
  series: Series | undefined;
  readonly #next = new Map<string, Branch>();

  at(label: string): Branch {
    let branch = this.#next.get(label);
    if (branch === undefined) this.#next.set(label, (branch = new Branch()));
    return branch;
  }
}

/**
 * A histogram of durations, exported by prom-client. It is faster than
 * prom-client's own, which validates the labels of each observation.
 */
export class Durations {
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #series: Series[] = [];
  readonly #root = new Branch();

  constructor(
    readonly name: string,
    readonly help: string,
    readonly labelNames: readonly string[],
    registry: Registry,
  ) {
    registry.registerMetric(this as unknown as Metric);
  }

  /** @param labels a value for each label, from a bounded set: combinations are never removed. */
  observe(seconds: number, ...labels: readonly string[]): void {
    let branch = this.#root;
    for (const label of labels) branch = branch.at(label);
    branch.series ??= this.#newSeries(labels);
    branch.series.observe(seconds);
  }

  #newSeries(labels: readonly string[]): Series {
    const series = new Series(
      Object.fromEntries(this.labelNames.map((name, index) => [name, labels[index]!])),
    );
    this.#series.push(series);
    return series;
  }

  /** Called by prom-client for each scrape. */
  get() {
    const { name, help, type, aggregator } = this;
    const values = this.#series.flatMap(({ labels, counts, sum }) => {
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
