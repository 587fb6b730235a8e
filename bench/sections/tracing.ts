/** Compares the service with an OpenTelemetry SDK with the same service without one, in turns. */
import { METHODS, type Pair, type Pairs, cpuMicroseconds, poolRounds } from '../compare';
import { contestantOf, preloading } from '../contestants';
import { measure } from '../measure';
import type { Section } from '../report';
import type { Conditions } from '../session';
import { spread } from '../statistics';
import { markdown } from '../table';

const SAMPLERS = {
  'none is sampled': { OTEL_TRACES_SAMPLER: 'always_off' },
  '1 % are sampled': { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' },
  'all are sampled': { OTEL_TRACES_SAMPLER: 'always_on' },
};

export async function tracing(conditions: Conditions, rounds: number): Promise<Section> {
  const untraced = contestantOf('plant-store');
  const rows: string[][] = [];
  for (const [sampler, env] of Object.entries(SAMPLERS)) {
    const compared: Pairs[] = [];
    for (let round = 1; round <= rounds; round++)
      compared.push(await measure(preloading(untraced, 'tracing.js', env), untraced, conditions));
    const pairs = poolRounds(compared);
    rows.push([sampler, ...METHODS.map((method) => addedText(pairs[method]))]);
  }
  const heads = METHODS.map((method) => `${method}: added µs of processor`);
  return { text: markdown(['with an SDK', ...heads], rows) };
}

function addedText(pairs: readonly Pair[]): string {
  const added = spread(
    pairs.map(({ own, other }) => {
      const [mine, theirs] = [cpuMicroseconds(own), cpuMicroseconds(other)];
      return mine && theirs ? mine - theirs : undefined;
    }),
  );
  if (added === undefined) return '–';
  const [median, lower, upper] = [added.median, added.lower, added.upper].map((value) => value.toFixed(1));
  return `${median} (${lower} to ${upper})`;
}
