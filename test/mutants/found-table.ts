import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { MUTANTS, type Mutant } from './mutants';

const FILE = 'test/mutants/found.json';

/** Seeds are counted from this one, and no fault is searched for in more schedules. */
export const FIRST_SEED = 1;
export const SCHEDULES = 100_000;

/** What found a planted fault of the engine, of the Redis adapter or of the simulator. */
export interface Found {
  readonly fault: string;
  readonly file: string;
  /** `engine schedules`, `adapter schedules`, or the file and the title of a test. */
  readonly foundBy: string;
  /** Number of schedules up to the first that violates a guarantee, and its seed. Absent for a test. */
  readonly schedules?: number;
  readonly seed?: number;
}

/** The table of planted faults in test/mutants/found.json: generated. */
export class FoundTable {
  readonly #rows: Map<string, Found>;

  /** @param recorded whether each change is written to the file. */
  constructor(readonly recorded = false) {
    const rows = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Found[]) : [];
    this.#rows = new Map(rows.map((row) => [row.fault, row]));
  }

  get rows(): readonly Found[] {
    return [...this.#rows.values()];
  }

  /** The seeds of the schedules that find faults, of instances of the engine or behind the Redis adapter. */
  seedsOf(simulation: NonNullable<Mutant['simulation']>): readonly number[] {
    return this.rows.flatMap(({ foundBy, seed }) =>
      foundBy === `${simulation} schedules` && seed !== undefined ? [seed] : [],
    );
  }

  get({ fault }: Mutant): Found | undefined {
    return this.#rows.get(fault);
  }

  /** @param seed of the first schedule that finds the fault; `undefined` if none does. */
  set(mutant: Mutant, seed: number | undefined): void {
    if (!this.recorded) return;
    const { fault, file, simulation } = mutant;
    if (seed === undefined) this.#rows.delete(fault);
    else {
      const schedules = seed - FIRST_SEED + 1;
      this.#rows.set(fault, { fault, file, foundBy: `${simulation} schedules`, schedules, seed });
    }
    this.#write();
  }

  /** In the order of the mutants, with those that a test finds. */
  #write(): void {
    const rows = MUTANTS.filter(({ file }) => TABLED.test(file)).flatMap((mutant): Found[] => {
      const { fault, file, simulation, test } = mutant;
      if (simulation) return this.get(mutant) ? [this.get(mutant)!] : [];
      return [{ fault, file, foundBy: `${test!.file}: ${test!.title}` }];
    });
    writeFileSync(FILE, `${JSON.stringify(rows, null, 2)}\n`);
  }
}

/** The table has the faults of these files. */
const TABLED = /^(?:src\/(?:event-sourcing|adapters\/redis)|test\/simulation)\//;
