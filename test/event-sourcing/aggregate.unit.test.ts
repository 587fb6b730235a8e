/** Scripts with one aggregate; script.ts explains the steps. A row is what it promises, and the script that shows it. */
import { Script, type ScriptOptions, type Suites, describeAll } from './script';

const suites: Suites = {
  'A round of an aggregate': {
    'is one store call for all requests that arrived while its start was postponed, in order': `
      postponed=1; a: +1; b: -1; c: -2; q: sum; calls -> none; begin -> 1; calls -> append 0/ as mine-1 +1 -1; answer
      a b c q -> ok, ok, too-low, 0; recorded -> +1 -1; observed -> appended 2
      d: sum; begin -> 1; e: sum; answer; answer; d e -> 0, 0; begin -> 0`,
    'makes no store call for requests that expired while it was postponed':
      'postponed=1; a: sum; begin; answer; sent; b: +1; pass 1000; b -> StoreUnavailable; begin; sent -> none',
    'is one store call for all requests that arrived while the last round was in flight': `
      a: +1; b: +2; q: sum; c: -1; d: +3; calls -> append 0/ as mine-1 +1; answer; a b q -> ok, pending, pending
      calls -> append 1/mine-1 as mine-2 +2 -1 +3; answer; b q c d -> ok, 5, ok, ok; calls -> none`,
    'is not joined while it is in flight: a later query sees the events recorded meanwhile': `
      p: sum; execute; others +1; q: sum; answer; p q -> 0, pending; answer; q -> 1`,
    'reads before it answers when there are only queries, rejections and commands without events': `
      others +1; load; a: -2; q: sum; b: 0; calls -> read 1/other-writer-1; answer; a -> too-low
      calls -> read 1/other-writer-1; q b -> pending, pending; answer; q b -> 1, ok; recorded -> +1`,
    'never answers from memory alone':
      'others +1; load -> 1; others +1; q: sum; q -> pending; answer; q -> 2',
  },

  'A rejection': {
    'is decided again when the command became possible after the round started': `
      others +1; load; a: -2; others +1; answer; a -> pending; calls -> append 2/other-writer-2 as mine-1 -2
      answer; a -> ok; recorded -> +1 +1 -2`,
    'is the result when the command became impossible after the round started, without another call': `
      others +1; load; q: sum; a: -1; r: sum; answer; others -1; answer; a r -> too-low, 0; calls -> none
      recorded -> +1 -1`,
  },

  'After a conflict, an aggregate': {
    'applies the newer events, decides again and appends after them, with a new commit id': `
      a: +1; q: sum; calls -> append 0/ as mine-1 +1; others +2; answer; a -> pending
      calls -> append 1/other-writer-1 as mine-2 +1; answer; a q -> ok, pending; answer; q -> 3; recorded -> +2 +1`,
    'reads all pages of newer events before it decides again': `
      page=2; others +9; load; q: sum; a: -9; answer; others +1 -1 +1 -1 -9; answer; calls -> read 3/other-writer-3
      answer; calls -> read 5/other-writer-5; answer; a -> too-low; calls -> none`,
  },

  'When the store has lost the tail of the history, an aggregate': {
    'reloads the stream, even if another history has reached the same version': `
      others +1 +2; load; observed; lose-tail 1; others +5; load -> 6; observed -> lost 2`,
    'detects it by an append, too, and decides against the current history': `
      others +1 +2; load; q: sum; a: -3; b: +5; answer; lose-tail 1; serve; a b -> too-low, ok; recorded -> +1 +5`,
    'leaves the outcome of an unconfirmed commit unknown, because a late attempt may still be recorded': `
      others +1 +2; load; a: +4; keep late; lose; lose-tail 1; pass 100; answer; a -> OutcomeUnknown
      error a message -> the history was lost before the write was confirmed
      others other-writer-2 +2; execute late; recorded -> +1 +2 +4; load -> 7`,
    'ends a round without a pause once the last of its requests has an unknown outcome': `
      others +1 +2 +3; load; a: +4; lose-tail 2; answer; answer; lose-tail 1; answer; answer; lose; lose-tail 0; pass 100
      answer; a -> OutcomeUnknown; b: sum; answer; b -> 0`,
    'answers the other requests of a round with an unconfirmed commit': `
      others +1 +2; load; p: sum; a: +4; q: sum; answer; execute; lose; lose-tail 1; pass 100; serve
      p a q -> 3, OutcomeUnknown, 1; recorded -> +1`,
    'does not treat events applied before the loss as current': `
      others +1; load; a: -1; others +2; answer; lose-tail 1; serve; a -> ok; recorded -> +1 -1`,
    'detects it between two pages of a load':
      'page=1; others +1 +2 +3; q: sum; answer; answer; lose-tail 1; others +5; serve; q -> 6; observed -> lost 2',
  },

  'When the history is invalid, an aggregate': {
    'fails the round with a history that the rules could not have produced, and records nothing': `
      others -1; a: +2; answer; a -> UnreadableHistory; error a message -> the sum is negative; recorded -> -1`,
    'recovers when the history is valid again': `
      others +1; load; others +2 -9; load -> UnreadableHistory; lose-tail 2; load -> 3`,
    'handles the rejection of a prefetched page: an unhandled one fails the test':
      'page=1; others -1 +2; q: sum; answer; q -> UnreadableHistory; lose',
    'fails a write as unreadable, not as unknown, if the store cannot read the history that it is appended to': `
      others +1; load; a: +1; unreadable; a -> UnreadableHistory; recorded -> +1; b: +2; answer; b -> ok; recorded -> +1 +2`,
    'fails the round if the store cannot read the history, and keeps its state': `
      others +1; load; q: sum; unreadable; q -> UnreadableHistory; bytes -> 100; load -> 1`,
  },

  'A long history': {
    'is loaded page by page, then the request is answered':
      'page=2; others +1 +2 +3 +4 +5; load -> 15; sent -> read 0, read 2, read 4; loaded -> 2 to 2, 2 to 4, 1 to 5',
    'is not loaded before its turn: the request says when to retry': `
      maxReads=0; q: sum; pass 1000; error q name reason retryAfterMs -> StoreUnavailable,loading,1000`,
    'is loaded across expired requests: pages that were read are kept, and not requested again': `
      page=2; others +1 +2 +3 +4 +5; p: sum; answer; answer; pass 1000; error p name reason retryAfterMs -> StoreUnavailable,loading,1000
      keep page; q: sum; pass 500; calls -> read 4/other-writer-4; answer page; q -> pending
      calls -> read 5/other-writer-5; answer; q -> 15`,
    'is not evicted while it is loaded, nor during a round': `
      page=1; others +1 +1; idle -> true; q: sum; answer; idle -> false; pass 1000; idle -> false
      answer; idle -> true; r: sum; idle -> false; answer; idle -> true`,
  },

  'When the reply to an append is lost, an aggregate': {
    'repeats the same append, and acknowledges what the first attempt recorded': `
      a: +1; execute; lose; a -> pending; pass 100; calls -> append 0/ as mine-1 +1; answer; a -> ok
      recorded -> +1; observed -> appended 1`,
    'decides again after a conflict, and the late append is fenced': `
      a: +1; keep late; lose; others +2; pass 100; answer; answer; execute late; a -> ok; recorded -> +2 +1`,
    'keeps repeating it while the store is unavailable': `
      a: +1; execute; lose; pass 200; refuse; pass 200; refuse; a -> pending; pass 200; answer; a -> ok; recorded -> +1`,
    'pauses from 10 to 200 ms between the attempts': `
      a: +1; lose; pass 9; calls -> none; pass 1; lose; pass 19; calls -> none; pass 1; lose; pass 40; lose; pass 80; lose
      pass 160; lose; pass 199; calls -> none; pass 1; lose; pass 200; a -> pending; answer; a -> ok`,
    'fails commands with events as unknown and the others as unavailable at the deadline': `
      others +1; load; p: sum; a: +2; b: -1; q: sum; c: -9; answer; execute; lose; pass 10; refuse; pass 990
      a b -> OutcomeUnknown, OutcomeUnknown; q c -> StoreUnavailable, StoreUnavailable`,
    'does not repeat it when no request waits for it any more': `
      a: +1; pass 995; lose; q: sum; pass 5; a -> OutcomeUnknown; calls -> read 0/; answer; q -> 0; pass 100; calls -> none`,
    'answers each command with its own decision, even if an earlier one of its round has expired': `
      others +1; load; p: sum; a: -9; pass 500; b: +2; answer; pass 500; a -> StoreUnavailable; answer; b -> ok
      recorded -> +1 +2`,
    'does not decide a command again after it expired': `
      p: sum; a: +1; pass 500; b: +2; answer; keep both; pass 500; a b -> OutcomeUnknown, pending; others +4
      answer both; answer; b -> ok; recorded -> +4 +2`,
  },

  'A command that failed as unavailable': {
    'fails at once when the store refuses its first attempt, and is not recorded': `
      a: +1; refuse; a -> StoreUnavailable; pass 1000; calls -> none; recorded -> none`,
    'does not fail the other requests of its round: a store that refuses writes is read for them': `
      others +1; load; p: sum; a: +2; q: sum; b: -9; c: +3; answer; refuse; a c -> StoreUnavailable, StoreUnavailable; q -> pending
      calls -> read 1/other-writer-1; others +4; answer; q b -> 5, too-low; observed -> fault StoreUnavailable`,
    'and is not read for others if there are none, or none that wait': `
      p: sum; q: sum; pass 500; a: +1; answer; pass 500; p q -> 0, StoreUnavailable; refuse; a -> StoreUnavailable; calls -> none`,
    'is not unknown when the repeated append conflicted and then the read failed': `
      page=1; a: +1; keep late; lose; others +2 +3; pass 100; answer; refuse; execute late; a -> StoreUnavailable
      recorded -> +2 +3`,
  },

  'While the store does not respond, an aggregate': {
    'fails each request of the round at its deadline, and not earlier': `
      a: +1; hang; pass 999; a -> pending; pass 1; a -> OutcomeUnknown
      error a message -> the event store did not confirm the write in time`,
    'fails each waiting request at its own deadline': `
      p: sum; pass 100; a: +1; pass 100; b: +2; pass 800; hang; pass 99; a b -> pending, pending; pass 1
      a b -> StoreUnavailable, pending; pass 99; b -> pending; pass 1; b -> StoreUnavailable`,
    'fails an expired waiting request as unavailable, and never sends it': `
      a: +1; b: +2; pass 1000; answer; pass 1000; a b -> OutcomeUnknown, StoreUnavailable; recorded -> +1
      error b message reason -> the event store did not answer in time,store; sent -> append 0`,
    'ignores the result of an abandoned read, also an error': `
      load; p: sum; keep old; pass 1000; others +1; a: +2; answer old; a -> pending; answer; answer; a -> ok; load -> 3
      q: sum; keep failed; pass 1000; observed; lose failed; observed -> none`,
    'ignores the result of an abandoned append': `
      a: +1; keep old; pass 1000; b: +2; answer old; answer; answer; b -> ok; recorded -> +1 +2`,
    'refuses requests beyond the queue limit at once, and answers those in the queue': `
      maxWaiting=2; a: +1; b: +2; q: sum; c: +3; r: sum; c r -> StoreUnavailable, StoreUnavailable; error c reason -> waiting_requests
      answer; answer; a b q -> ok, ok, 3; recorded -> +1 +2`,
    'abandons a page of a history without a reply, and reads it again': `
      p: sum; hang; pass 1999; q: sum; calls -> none; pass 1; q -> StoreUnavailable
      error q message -> the event store did not answer in time; r: sum; pass 0; answer; r -> 0`,
  },

  'An aggregate with a bound of memory': {
    'drops a state that exceeds it, reports it once, and does not load it again for ten seconds': `
      maxBytes=1000; others +11; load -> StoreUnavailable; error loaded reason retryAfterMs -> state_size,10000; bytes -> 0
      observed -> too-large, fault StoreUnavailable; sent; load -> StoreUnavailable; sent -> none; observed -> none
      pass 10000; load -> StoreUnavailable; sent -> read 0`,
    'refuses a command that would take more than seven eighths of it, and no other request': `
      maxBytes=1000; others +8; load -> 8; a: +1; a -> StoreUnavailable; error a reason -> state_size; b: -1; q: sum; answer; answer
      b q -> ok, 7; pass 10000; c: +1; c -> pending; answer; c -> ok; recorded -> +8 -1 +1`,
    'counts the commands that wait, until they expire': `
      maxBytes=1000; a: +1; hang; b: +7; d: +2; error d reason -> state_size; pass 1000; b -> StoreUnavailable
      c: +7; pass 10000; d: +7; d -> pending; answer; d -> ok`,
    'refuses commands that take more than the bound of all that wait, until others are settled': `
      maxCommandBytes=1000; a: +6; b: +5; b -> StoreUnavailable; error b reason -> waiting_commands; q: sum; q -> pending; answer; a -> ok
      c: +10; answer; answer; q c -> 6, ok`,
  },

  'A failed round': {
    'fails a read whose reply was lost as unavailable: a read changes nothing': `
      p: sum; a: -1; lose; lose; p a -> StoreUnavailable, StoreUnavailable; error p message -> the round failed`,
    'has the outcome of an append unknown if the store has a bug, with the bug as the cause': `
      p: sum; a: +1; q: sum; answer; execute; bug; a q -> OutcomeUnknown, TypeError
      error a message cause -> the write may have been recorded,TypeError: a bug of the store`,
    'reloads the stream if the store has a bug': 'others +1; load; q: sum; bug; bytes -> 0; load -> 1',
  },

  'The observer of an aggregate': {
    'is notified of a conflict, and its store calls are counted':
      'page=1; others +1; load; observed; a: +2; others +3 +4; answer; serve; observed -> conflict, appended 1',
    'is not notified of a conflict when a command is the first to load the history': `
      others +1; a: +2; serve; pass 0; observed -> appended 1`,
    'is notified of the error of a failed round': `
      p: sum; refuse; q: sum; bug; observed -> fault StoreUnavailable, fault TypeError
      load; observed; r: sum; hang; pass 1000; a: +1; hang; pass 1000
      observed -> fault StoreUnavailable, fault OutcomeUnknown`,
  },
};

describeAll(suites, (script, options: ScriptOptions) => new Script(options).play(script));

describe('A round of an aggregate', () => {
  it('has 1 MiB of commands, or one that is larger: the others are recorded by further appends', () =>
    new Script({ kind: { sizes: { ofState: () => 0, ofCommand: (by) => by * 2 ** 20 } } }).play(`
      p: +1; a: +1; b: +3; c: +1; d: 0; answer; calls -> append 1/mine-1 as mine-2 +1; answer
      calls -> append 2/mine-2 as mine-3 +3; answer; calls -> append 3/mine-3 as mine-4 +1; answer; a b c d -> ok, ok, ok, ok`));

  it('does not expire a request when its timer fires early', async () => {
    const script = new Script();
    const after = script.clock.after.bind(script.clock);
    script.clock.after = (ms, action) => after(Math.max(1, ms - 1), action);
    await script.play('q: sum; pass 999; q -> pending; pass 1; q -> StoreUnavailable');
  });
});
