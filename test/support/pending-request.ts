import type { Decision } from '../../src/domain';
import type { Listing } from '../../src/application';

/** `created`, `deleted`, a rejection, the listed names, or the name of an error. */
export type RequestOutcome = string | readonly string[];

/** A request in flight, and its outcome. */
export class PendingRequest<Answer> {
  outcome: RequestOutcome = 'pending';
  error: unknown;
  answer: Answer | undefined;

  constructor(
    answer: Promise<Answer>,
    describe: (answer: Answer) => RequestOutcome,
    settled: () => void = () => {},
  ) {
    void answer
      .then(
        (given) => {
          this.outcome = describe(given);
          this.answer = given;
        },
        (error: unknown) => {
          this.error = error;
          this.outcome = error instanceof Error ? error.name : String(error);
        },
      )
      .then(settled);
  }
}

/** A request for plants. */
export class PendingPlants extends PendingRequest<Decision | Listing> {
  constructor(answer: Promise<Decision | Listing>, settled?: () => void) {
    super(
      answer,
      (given) => {
        if ('plants' in given) return given.plants.map(({ name }) => name);
        return given.rejection ?? given.events[0]!.type.replace('Plant', '').toLowerCase();
      },
      settled,
    );
  }
}
