import type { ServiceProcess } from '../../support/service-process';
import { LoadGenerator } from './generator';
import { SEED, startService } from './service';
import type { ClientGroup, Figures, GroupFigures } from './workload';

export interface LoadFixture {
  /** Runs until {@link ServiceProcess.kill}, or until the test ends. */
  start(...args: Parameters<typeof startService>): Promise<ServiceProcess>;
  /** Plays it in a generator process. A second workload at the same time needs another `generator`. */
  play(
    url: string,
    endsAfterMs: number,
    groups: readonly ClientGroup[],
    generator?: number,
  ): Promise<Figures>;
}

/** Service processes for each test, and load generators for the suite whose body calls this. */
export function loadFixture({ generators = 1 } = {}): LoadFixture {
  const services: ServiceProcess[] = [];
  const started: LoadGenerator[] = [];
  before(async () => {
    while (started.length < generators) started.push(await LoadGenerator.start());
  });
  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.kill()));
  });
  after(() => Promise.all(started.splice(0).map((generator) => generator.stop())));
  return {
    async start(...args) {
      const service = await startService(...args);
      services.push(service);
      return service;
    },
    play(url, endsAfterMs, groups, generator = 0) {
      const figures = started[generator]!.play({ url, seed: SEED, endsAfterMs, groups });
      // If the test fails meanwhile, this rejection is handled.
      figures.catch(() => {});
      return figures;
    },
  };
}

/** The figures of these groups, in this order. */
export function figuresOf({ groups }: Figures, ...names: readonly string[]): GroupFigures[] {
  return names.map((name) => groups[name]!);
}
