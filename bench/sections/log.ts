/** Compares the service as it is started with the same service at the log level `warn`, in turns. */
import { type Pairs, cpuRatio, poolRounds, rateRatio } from '../compare';
import { contestantOf } from '../contestants';
import { measure } from '../measure';
import type { Section } from '../report';
import type { Conditions } from '../session';
import { ratiosTable } from '../table';

export async function log(conditions: Conditions, rounds: number): Promise<Section> {
  const [logged, silent] = ['plant-store', 'plant-store-warn'].map(contestantOf);
  const compared: Pairs[] = [];
  for (let round = 1; round <= rounds; round++) compared.push(await measure(logged!, silent!, conditions));
  const ratios = { 'requests a second': rateRatio, processor: cpuRatio };
  return { text: ratiosTable('with a log line a request, to none', poolRounds(compared), ratios) };
}
