import type { Listing, User } from '../../../src/application';
import type { Decision } from '../../../src/domain';
import type { Head } from '../../../src/event-sourcing';
import { type RequestOutcome, PendingPlants } from '../../support/pending-request';
import type { PlantRequest } from '../../support/plant-requests';
import type { SimulatedProcess } from './simulated-process';

/** A request of a client to a process. `asked` and `answered` are logical, unique times. */
export class SimulatedRequest {
  answered = Infinity;
  tookMs = Infinity;
  readonly #request: PendingPlants;

  constructor(
    readonly user: User,
    readonly request: PlantRequest,
    readonly asked: number,
    private readonly process: SimulatedProcess,
    answer: Promise<Decision | Listing>,
    settled: (request: SimulatedRequest) => void,
  ) {
    this.#request = new PendingPlants(answer, () => settled(this));
  }

  /** `died` if the process died before it answered. */
  get outcome(): RequestOutcome {
    const { outcome } = this.#request;
    return outcome === 'pending' && !this.process.alive ? 'died' : outcome;
  }

  /** The longest time in which it must be settled, in ms. */
  get timeoutMs(): number {
    return TIMEOUT_MS / this.process.clockRate;
  }

  get error(): unknown {
    return this.#request.error;
  }

  /** The head of a listing. */
  get head(): Head | undefined {
    const { answer } = this.#request;
    return answer && 'head' in answer ? answer.head : undefined;
  }
}

/** The deadline of each request, in ms on the clock of its process. */
export const TIMEOUT_MS = 200;
