import { inspect } from 'node:util';
import type { Decision } from '../event-sourcing';

/** What was given, the commands, and the decision on each of them. */
export interface Example<Event, Rejection> {
  readonly history: readonly Event[];
  readonly commands: readonly unknown[];
  readonly decisions: readonly Decision<Event, Rejection>[];
}

/** A message shows at most this many events of the history: the last ones. */
const SHOWN_EVENTS = 10;

/**
 * The message of a failed example. Lines with `-` are expected, those with `+` are what the decider decided:
 *
 *     the decider decided otherwise
 *     given
 *       { amount: 3, type: 'Added' }
 *     when
 *       { amount: 3, type: 'Add' }
 *     then (- expected, + decided)
 *     - event { amount: 3, type: 'Added' }
 *     + rejected: 'full'
 */
export function differenceText<Event, Rejection>(
  { history, commands, decisions }: Example<Event, Rejection>,
  expected: Decision<Event, Rejection>,
): string {
  const earlier = Math.max(0, history.length - SHOWN_EVENTS);
  const given = history.slice(earlier).map(printed);
  if (earlier > 0) given.unshift(`… ${earlier} earlier events`);
  if (given.length === 0) given.push('no events');
  const when = commands.map((command, index) => {
    const rejection = decisions[index]?.rejection;
    const isLast = index === commands.length - 1;
    return isLast || rejection === undefined
      ? printed(command)
      : `${printed(command)} rejected: ${printed(rejection)}`;
  });
  return [
    'the decider decided otherwise',
    ...['given', ...given.map(indented)],
    ...['when', ...when.map(indented)],
    'then (- expected, + decided)',
    ...difference(linesOf(expected), linesOf(decisions.at(-1))),
  ].join('\n');
}

/** The value as text: complete, with sorted members. */
export function printed(value: unknown): string {
  return inspect(value, { depth: null, maxArrayLength: null, maxStringLength: null, sorted: true });
}

function linesOf<Event, Rejection>(decision: Decision<Event, Rejection> | undefined): string[] {
  if (decision === undefined) return ['no decision'];
  const { events, rejection } = decision;
  if (events === undefined) return [`rejected: ${printed(rejection)}`];
  if (events.length === 0) return ['accepted, no events'];
  return events.flatMap((event) => `event ${printed(event)}`.split('\n'));
}

/** The lines of both, marked where they differ: between the equal lines at the beginning and at the end. */
function difference(expected: readonly string[], decided: readonly string[]): string[] {
  const shorter = Math.min(expected.length, decided.length);
  let start = 0;
  while (start < shorter && expected[start] === decided[start]) start++;
  let end = 0;
  while (end < shorter - start && expected.at(-1 - end) === decided.at(-1 - end)) end++;
  return [
    ...expected.slice(0, start).map((line) => `  ${line}`),
    ...expected.slice(start, expected.length - end).map((line) => `- ${line}`),
    ...decided.slice(start, decided.length - end).map((line) => `+ ${line}`),
    ...expected.slice(expected.length - end).map((line) => `  ${line}`),
  ];
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}
