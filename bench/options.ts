/** The options of `npm run bench -- …`. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Generator } from './load';

export interface BenchmarkOptions {
  readonly quick: boolean;
  readonly only: readonly string[] | undefined;
  /** The compiled main script of an earlier version, to compare with; a path. */
  readonly earlier: string | undefined;
  readonly rounds: number;
  readonly slices: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly generator: Generator | undefined;
  /** Whether benchmark.md and its chart are written. */
  readonly write: boolean;
  /** The folder of the page. */
  readonly into: string;
  readonly help: boolean;
}

export const HELP = `npm run bench -- [OPTION …]
  --quick            one short round of some, under two minutes; writes nothing
  --only NAME,NAME   these only, and bare, which all are compared with
  --earlier FILE     compare with an earlier version of plant-store, whose dist/main.js this is
  --rounds N         how often each is started and measured (1)
  --slices N         how often each kind of request is measured then, in turns with bare (3)
  --seconds S        for how long each time (1)
  --warm-up S        for how long it is sent before that (2)
  --load NAME        wrk or node; wrk where there is one
  --into DIRECTORY   write benchmark.md and its chart there, after --quick or --only too; a full run writes into docs
  --help             this text`;

export function readOptions(args: readonly string[]): BenchmarkOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      earlier: { type: 'string' },
      rounds: { type: 'string' },
      slices: { type: 'string' },
      seconds: { type: 'string' },
      'warm-up': { type: 'string' },
      load: { type: 'string' },
      into: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const { quick, earlier, load } = values;
  const only = values.only?.split(',') ?? (earlier === undefined ? undefined : []);
  if (load !== undefined && load !== 'wrk' && load !== 'node') {
    throw new Error('--load is wrk or node');
  }
  return {
    quick,
    only,
    earlier: earlier === undefined ? undefined : resolve(earlier),
    rounds: number('--rounds', values.rounds ?? '1', 1),
    slices: number('--slices', values.slices ?? (quick ? '1' : '3'), 1),
    seconds: number('--seconds', values.seconds ?? '1', 0.1),
    warmUpSeconds: number('--warm-up', values['warm-up'] ?? (quick ? '1' : '2'), 0),
    generator: load,
    write: values.into !== undefined || (!quick && only === undefined),
    into: values.into ?? 'docs',
    help: values.help,
  };
}

function number(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!(value >= least && value < Infinity)) throw new Error(`${name} is a number, at least ${least}`);
  return value;
}
