import type { Context } from 'koa';
import { HttpProblem, PROBLEMS } from './problems';

/** What a resource answers to methods beyond those that it has: 204 to OPTIONS, else 405, both with `Allow`. */
export function otherMethods(allow: string) {
  return (ctx: Context): void => {
    if (ctx.method !== 'OPTIONS')
      throw new HttpProblem(PROBLEMS.methodNotAllowed, undefined, { Allow: allow });
    ctx.status = 204;
    ctx.set('Allow', allow);
  };
}
