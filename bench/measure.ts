/** Measures two servers in one round: starts both, compares them, stops both. */
import { type Pairs, compare } from './compare';
import { type Command, RunningServer } from './server';
import { type Target, type Conditions, Session } from './session';

export interface Contestant extends Target {
  readonly name: string;
  readonly title: string;
  readonly command: Command;
  /** Not part of a quick run, which must end within two minutes. */
  readonly notInQuick?: boolean;
}

/**
 * Starts both servers, compares the first with the other, and stops them.
 *
 * @param look reads further figures from the URL of the first server before it is stopped.
 */
export async function measure(
  contestant: Contestant,
  other: Contestant,
  conditions: Conditions,
  look?: (url: string) => Promise<void>,
): Promise<Pairs> {
  try {
    return await started(other, conditions, (beside) =>
      started(contestant, conditions, async (own, url) => {
        const pairs = await compare(own, beside, conditions);
        await look?.(url);
        return pairs;
      }),
    );
  } catch (error) {
    const which = `${contestant.name} beside ${other.name}`;
    throw new Error(`${which}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Starts a server, checks that it works, and stops it after `work`, also after a failure. */
async function started<T>(
  contestant: Contestant,
  conditions: Conditions,
  work: (session: Session, url: string) => Promise<T>,
): Promise<T> {
  const server = await RunningServer.start(contestant.command, conditions.placement.server);
  try {
    const session = new Session(contestant, server, conditions);
    await session.prepare();
    return await work(session, server.url);
  } finally {
    await server.stop();
  }
}
