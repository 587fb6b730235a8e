/** Two servers in one round: started afresh, compared, stopped. */
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

/**
 * Starts both, compares the one with the other, and stops them.
 *
 * @param look what else is to be learned from the one before it is stopped, told where it listens.
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

/** Starts it, sees that it does as it should, and stops it behind `work`, whatever comes of that. */
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
