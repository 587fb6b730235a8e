/** First suite of the contract, part 6: calls after the store was closed. Nothing to check for one without `close`. */
import assert from 'node:assert/strict';
import { BEGINNING, StoreUnavailable } from '../event-sourcing';
import { nextCommit } from './a-stream';
import type { Cases } from './case';

export const closingExamples: Cases = {
  'a closed store is unavailable: each read and each append rejects with StoreUnavailable': async (
    subject,
  ) => {
    const stream = subject.aStream();
    const [a, b] = subject.few;
    const head = await stream.add(BEGINNING, a);

    if (!(await subject.place.closeAll())) return;

    await assertUnavailable('a read after close()', () => stream.read(head));
    await assertUnavailable('an append after close()', () => stream.append(head, nextCommit(), [b]));
  },
};

/** Asserts that a call rejects with StoreUnavailable. */
async function assertUnavailable(what: string, call: () => Promise<unknown>): Promise<void> {
  // In a function, so that a call that throws at once counts as one that rejects.
  const outcome = await (async () => call())().then(
    (result) => `resolved with ${JSON.stringify(result)}`,
    (error: unknown) => (error instanceof StoreUnavailable ? undefined : `rejected with ${String(error)}`),
  );
  if (outcome !== undefined) assert.fail(`${what} must reject with StoreUnavailable, and ${outcome}`);
}
