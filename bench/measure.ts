/** Servers of the benchmark, each started afresh for what is to be learned from it. */
import { type Pairs, compare } from './compare';
import { type Command, RunningServer } from './server';
import { type Asking, type Conditions, Session } from './session';

export interface Contestant extends Asking {
  readonly name: string;
  readonly title: string;
  readonly command: Command;
  /** Left out of a quick run, which has to end within two minutes. */
  readonly notInQuick?: boolean;
}

/** Starts it, sees that it does as it should, and stops it behind `work`, whatever comes of that. */
export async function started<T>(
  contestant: Contestant,
  conditions: Conditions,
  work: (session: Session, url: string) => Promise<T>,
): Promise<T> {
  const server = await RunningServer.start(contestant.command, conditions.placement.server);
  try {
    const session = new Session(contestant, server, conditions);
    await session.prepare();
    return await work(session, server.url);
  } catch (error) {
    throw new Error(`${contestant.name}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  } finally {
    await server.stop();
  }
}

export function measure(contestant: Contestant, other: Session, conditions: Conditions): Promise<Pairs> {
  return started(contestant, conditions, (own) => compare(own, other, conditions));
}
