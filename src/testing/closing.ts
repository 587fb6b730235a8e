/** First suite of the contract, part 6: calls after the store was closed. Nothing to check for one without `close`. */
import { BEGINNING } from '../event-sourcing';
import { nextCommit } from './a-stream';
import { type Cases, assertClosed } from './case';

export const closingExamples: Cases = {
  'a closed store is unavailable: each read and each append rejects with StoreUnavailable': async (
    subject,
  ) => {
    const stream = subject.aStream();
    const [a, b] = subject.few;
    const head = await stream.add(BEGINNING, a);
    await assertClosed(subject.place, {
      'a read': () => stream.read(head),
      'an append': () => stream.append(head, nextCommit(), [b]),
    });
  },
};
