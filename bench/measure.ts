/** One server in one round: started afresh, measured, stopped. */
import { type Command, RunningServer } from './server';
import { type Asking, type Conditions, type Figures, Session } from './session';

export interface Contestant extends Asking {
  readonly name: string;
  readonly title: string;
  readonly command: Command;
  /** Left out of a quick run. */
  readonly slow?: boolean;
}

/** @param look what else is to be learned from it before it is stopped, told where it listens. */
export async function measure(
  contestant: Contestant,
  conditions: Conditions,
  look?: (url: string) => Promise<void>,
): Promise<Figures> {
  const server = await RunningServer.start(contestant.command, conditions.placement.server);
  try {
    const figures = await new Session(contestant, server, conditions).figures();
    await look?.(server.url);
    return figures;
  } catch (error) {
    throw new Error(`${contestant.name}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  } finally {
    await server.stop();
  }
}
