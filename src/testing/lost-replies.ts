/** First suite of the contract, for stores whose replies can be lost: unknown outcomes. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type AppendResult,
  BEGINNING,
  type EncodedEvent,
  type Head,
  OutcomeUnknown,
  StoreUnavailable,
} from '../event-sourcing';
import { type Stream, assertStatus, nextCommit, recorded } from './a-stream';
import type { Cases, Subject } from './case';

export const lostReplyExamples: Cases = {
  'a lost reply to an append is an OutcomeUnknown, and the repeated append is recorded once': async (
    subject,
  ) => {
    const { stream, head, commit, event, appended } = await appendWithoutReply(subject);

    assert.deepEqual(await whileFaulty(() => stream.append(head, commit, [event])), appended);

    assert.deepEqual(await stream.history(head), recorded(head, commit, [event]));
  },

  'a lost reply to an append: the repeated append has the same result even if later events followed it':
    async (subject) => {
      const { stream, head, commit, event, appended } = await appendWithoutReply(subject);
      await stream.add(appended.head, subject.few[3]);

      assert.deepEqual(await stream.append(head, commit, [event]), appended);

      assert.equal((await stream.history(head)).length, 2);
    },

  'a lost reply to a read is a StoreUnavailable, since a read changes nothing': async (subject) => {
    const stream = subject.aStream();
    const [a] = subject.few;
    const { commit } = await stream.add(BEGINNING, a);

    await subject.place.loseReply();
    const result = await stream.read(BEGINNING).catch((error: unknown) => error);

    const history = recorded(BEGINNING, commit, [a]);
    // A store may repeat the read itself.
    if (result instanceof Error) assertFault(result, StoreUnavailable, 'the reply to a read was lost');
    else assert.deepEqual(result, { status: 'read', events: history, more: false });
    assert.deepEqual(await whileFaulty(() => stream.history()), history);
  },
};

/** Appends an event and loses the reply. Resolves when the store can be used again. */
async function appendWithoutReply(subject: Subject): Promise<{
  readonly stream: Stream;
  readonly head: Head;
  readonly commit: string;
  readonly event: EncodedEvent;
  readonly appended: Extract<AppendResult, { readonly status: 'appended' }>;
}> {
  const stream = subject.aStream();
  const [a, event] = subject.few;
  const head = await stream.add(BEGINNING, a);
  const commit = nextCommit();
  const appended = { status: 'appended', head: { version: 2, commit } } as const;

  await subject.place.loseReply();
  const result = await stream.append(head, commit, [event]).catch((error: unknown) => error);

  const newer = await whileFaulty(() => stream.read(head));
  assertStatus(newer, 'read');
  assert.deepEqual(
    newer.events,
    recorded(head, commit, [event]),
    'the append was not recorded once: loseReply() must let the store execute it, and lose the reply only',
  );
  // A store may repeat the append itself.
  if (result instanceof Error)
    assertFault(result, OutcomeUnknown, 'an append was recorded and its reply was lost');
  else assert.deepEqual(result, appended);
  return { stream, head, commit, event, appended };
}

function assertFault(
  error: Error,
  Fault: typeof StoreUnavailable | typeof OutcomeUnknown,
  what: string,
): void {
  if (!(error instanceof Fault))
    assert.fail(`${what}: the call must reject with ${Fault.name}, not with ${String(error)}`);
}

/** Longer than a case may take. */
const REPEATED_MS = 60_000;

/** Repeats a call while it rejects with a fault: the store may have to connect again. */
async function whileFaulty<T>(call: () => Promise<T>): Promise<T> {
  const end = performance.now() + REPEATED_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreUnavailable || error instanceof OutcomeUnknown)) throw error;
      // The case has ended, and with it the store.
      if (performance.now() > end) throw error;
      await pause(10);
    }
  }
}
