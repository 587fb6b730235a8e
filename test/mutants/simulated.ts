import type { Mutant } from './mutants';

type SimulatedFault = Omit<Mutant, 'simulation'>;

const SRC = 'src/event-sourcing';
const REDIS = 'src/adapters/redis';

/** Rounds: which requests one has, which state it answers from, and when it ends. */
const ROUNDS: readonly SimulatedFault[] = [
  {
    fault: 'a query is answered without a read barrier',
    file: `${SRC}/stream-state.ts`,
    code: 'const result = await this.calls.read(this.head);',
    replacement: 'if (this.#caughtUp) return true;\n    const result = await this.calls.read(this.head);',
    test: {
      file: 'test/event-sourcing/aggregate.rounds.unit.test.ts',
      title: 'never answers from memory alone',
    },
  },
  {
    fault: 'a query that arrives during a round joins it',
    file: `${SRC}/request-queue.ts`,
    code: 'this.#waiting.push(new RoundRequest(',
    replacement:
      '(command === undefined && this.#round.length > 0 ? (this.#round as RoundRequest<Command, Decided>[]) : this.#waiting).push(new RoundRequest(',
  },
  {
    fault: 'a load that an earlier round started is the read barrier of a later one',
    file: `${SRC}/aggregate.ts`,
    code: '        await this.#state.load();\n        continue;',
    replacement: '        current = await this.#state.load();\n        continue;',
    test: {
      file: 'test/event-sourcing/aggregate.history.unit.test.ts',
      title: 'is loaded across expired requests',
    },
  },
  {
    fault: 'a query takes the decision of the next command',
    file: `${SRC}/aggregate.ts`,
    code: 'request.succeed(request.command && decisions[next++]);',
    replacement: 'request.succeed(decisions[next++]);',
  },
  {
    fault: 'the commands of a round are all decided from the state at its beginning',
    file: `${SRC}/stream-state.ts`,
    code: 'return decideInOrder(this.decider, commands, this.#value);',
    replacement: 'return commands.flatMap((command) => decideInOrder(this.decider, [command], this.#value));',
  },
  {
    fault: 'the requests of a round stay its requests after its end',
    file: `${SRC}/request-queue.ts`,
    code: '    this.#round = [];\n',
    replacement: '',
  },
  {
    fault: 'a round reads once more after it has caught up',
    file: `${SRC}/aggregate.ts`,
    code: '        current = await this.#state.catchUp();',
    replacement: '        await this.#state.catchUp();\n        current = await this.#state.catchUp();',
  },
  {
    fault: 'a state is evicted during a round',
    file: `${SRC}/aggregate.ts`,
    code: 'if (this.#running || this.#state.loading || this.#state.saving) return false;',
    replacement: 'if (this.#state.loading || this.#state.saving) return false;',
  },
  {
    fault: 'a state is evicted while it is loaded',
    file: `${SRC}/aggregate.ts`,
    code: 'if (this.#running || this.#state.loading || this.#state.saving) return false;',
    replacement: 'if (this.#running || this.#state.saving) return false;',
  },
];

/** Deadlines, queues and memory. */
const BOUNDS: readonly SimulatedFault[] = [
  {
    fault: 'the deadlines of a round in flight are not watched while others wait',
    file: `${SRC}/request-queue.ts`,
    code: 'this.#round.find((request) => !request.settled) ?? this.#waiting[0];',
    replacement: 'this.#waiting[0] ?? this.#round.find((request) => !request.settled);',
  },
  {
    fault: 'the deadline of a request begins with the one before it',
    file: `${SRC}/request-queue.ts`,
    code: 'const deadline = clock.now() + timeoutMs;',
    replacement: 'const deadline = Math.max(clock.now(), this.#waiting.at(-1)?.deadline ?? 0) + timeoutMs;',
  },
  {
    fault: 'a round whose requests have expired goes on waiting for the store',
    file: `${SRC}/request-queue.ts`,
    code: 'if (this.#round.length > 0 && !this.roundIsPending) abandoned();',
    replacement: '',
  },
  {
    fault: 'an abandoned read is awaited',
    file: `${SRC}/stream-calls.ts`,
    code: 'return this.#unlessAbandoned(this.store.read(this.stream, after), StoreUnavailable);',
    replacement: 'return this.store.read(this.stream, after);',
  },
  {
    fault: 'one request more than the queue limit waits',
    file: `${SRC}/request-queue.ts`,
    code: 'this.#waiting.length >= maxWaiting',
    replacement: 'this.#waiting.length > maxWaiting',
  },
  {
    fault: 'the requests of the round in flight count towards the queue limit',
    file: `${SRC}/request-queue.ts`,
    code: 'this.#waiting.length >= maxWaiting',
    replacement: 'this.#waiting.length + this.#round.length >= maxWaiting',
  },
  {
    fault: 'a command that has settled keeps its memory',
    file: `${SRC}/request-queue.ts`,
    code: '    this.release(this.bytes);\n',
    replacement: '',
  },
  {
    fault: 'the page of a load has no timeout',
    file: `${SRC}/load-queue.ts`,
    code: 'const cancel = this.clock.after(this.pageTimeoutMs, late);',
    replacement: 'const cancel = this.clock.after(1000 * this.pageTimeoutMs, late);',
  },
  {
    fault: 'a load that fails stays in progress',
    file: `${SRC}/load-queue.ts`,
    code: '    this.#loads--;\n    if (!complete) return;',
    replacement: '    if (!complete) return;\n    this.#loads--;',
  },
  {
    fault: 'a page that was read does not admit the next one that waits',
    file: `${SRC}/load-queue.ts`,
    code: '            this.#reading--;\n            this.#admit();',
    replacement: '            this.#reading--;',
  },
  {
    fault: 'a page that fails keeps its place among those in flight',
    file: `${SRC}/load-queue.ts`,
    code: '          .then(resolve, reject)\n          .finally(() => {',
    replacement: '          .then((value) => {\n            resolve(value);',
  },
  {
    fault: 'a load that a request waits for is dropped before its first page',
    file: `${SRC}/load-queue.ts`,
    code: 'if (load.wanted()) return true;',
    replacement: 'if (load.wanted() && (load.pages > 0 || this.#reading === 0)) return true;',
  },
  {
    fault: 'the memory of a state that did not fit is not free at once',
    file: `${SRC}/stream-state.ts`,
    code: '    this.owner.fits();\n    const full',
    replacement: '    const full',
    test: {
      file: 'test/application/plant-store.memory.unit.test.ts',
      title: 'serves one of two users that do not fit together',
    },
  },
  {
    fault: 'the cache evicts nothing',
    file: `${SRC}/aggregate-cache.ts`,
    code: 'if (!this.#exceeds()) return;',
    replacement: 'if (!this.#exceeds() || this.#bytes > 0) return;',
  },
  {
    fault: 'an evicted state keeps its place in the memory of the cache',
    file: `${SRC}/aggregate-cache.ts`,
    code: '      this.#bytes -= entry.bytes;\n',
    replacement: '',
  },
  {
    fault: 'a state that does not fit stays in memory',
    file: `${SRC}/stream-state.ts`,
    code: '    this.startOver();\n    // Its memory is free at once: another load may need it in the same turn.\n',
    replacement: '',
  },
];

/** Appends whose outcome is not known, conflicts, and histories that were lost or archived. */
const OUTCOMES: readonly SimulatedFault[] = [
  {
    fault: 'an append without a reply counts as unavailable',
    file: `${SRC}/stream-calls.ts`,
    code: '    setInDoubt(true);\n',
    replacement: '',
    test: {
      file: 'test/event-sourcing/aggregate.lost-replies.unit.test.ts',
      title: 'fails commands with events as unknown and the others as unavailable',
    },
  },
  {
    fault: 'an append counts as unavailable if its retry is refused',
    file: `${SRC}/stream-calls.ts`,
    code: 'unknown ||= !(error instanceof StoreUnavailable);',
    replacement: 'unknown = !(error instanceof StoreUnavailable);',
    test: {
      file: 'test/event-sourcing/aggregate.lost-replies.unit.test.ts',
      title: 'keeps retrying while the store is unavailable',
    },
  },
  {
    fault: 'an append is not in doubt during the pause before its retry',
    file: `${SRC}/stream-calls.ts`,
    code: 'if (!unknown) setInDoubt(false);',
    replacement: 'setInDoubt(false);',
  },
  {
    fault: 'an append that the store has refused stays in doubt',
    file: `${SRC}/stream-calls.ts`,
    code: '        if (!unknown) setInDoubt(false);\n',
    replacement: '',
  },
  {
    fault: 'an append that was answered by a conflict stays in doubt',
    file: `${SRC}/stream-calls.ts`,
    code: "setInDoubt(unknown && (result.status === 'reset' || result.status === 'archived'));",
    replacement: "setInDoubt(result.status !== 'appended');",
  },
  {
    fault: 'a rejected command is in doubt with the others of its round',
    file: `${SRC}/aggregate.ts`,
    code: 'commands.filter((_, index) => (decisions[index]!.events?.length ?? 0) > 0);',
    replacement: 'commands.filter((_, index) => decisions[index] !== undefined);',
  },
  {
    fault: 'a repeated append has a new commit id',
    file: `${SRC}/stream-calls.ts`,
    code: 'await this.#append(expected, commit, events);',
    replacement: 'await this.#append(expected, `${commit}${this.made}`, events);',
    test: {
      file: 'test/event-sourcing/aggregate.lost-replies.unit.test.ts',
      title: 'acknowledges what the first attempt recorded',
    },
  },
  {
    fault: 'an append that no request waits for is repeated',
    file: `${SRC}/stream-calls.ts`,
    code: ' || !pending()) throw error;',
    replacement: ') throw error;',
  },
  {
    fault: 'the events of a conflict after its first page are skipped',
    file: `${SRC}/stream-state.ts`,
    code: 'if (newer.more) return this.load();',
    replacement: 'if (newer.more) return true;',
  },
  {
    fault: 'the events of a conflict are applied twice',
    file: `${SRC}/aggregate.ts`,
    code: 'current = await this.#state.applyNewer(result);',
    replacement:
      'await this.#state.applyNewer({ ...result, more: false });\n          current = await this.#state.applyNewer(result);',
  },
  {
    fault: 'a reset is ignored by a read',
    file: `${SRC}/stream-state.ts`,
    code: '    this.loseHistory();\n    return false;\n  }\n\n  /** Applies the newer events of a read',
    replacement: '    return true;\n  }\n\n  /** Applies the newer events of a read',
    test: {
      file: 'test/event-sourcing/aggregate.history.unit.test.ts',
      title: 'reloads the stream and serves the events that are left',
    },
  },
  {
    fault: 'a state that starts over keeps its value',
    file: `${SRC}/stream-state.ts`,
    code: '    this.#value = this.decider.initialState();\n    this.#head = BEGINNING;\n    this.#caughtUp = false;',
    replacement: '    this.#head = BEGINNING;\n    this.#caughtUp = false;',
  },
  {
    fault: 'archived events are reported as a lost history',
    file: `${SRC}/stream-state.ts`,
    code: "    if (result.status === 'archived') return this.reload();\n",
    replacement: '',
  },
];

/** Loads and snapshots. */
const LOADS: readonly SimulatedFault[] = [
  {
    fault: 'a load ends after its first page',
    file: `${SRC}/history-loader.ts`,
    code: 'if (next === undefined) return true;',
    replacement: 'return true;',
  },
  {
    fault: 'a page is prefetched with the commit of the page before it',
    file: `${SRC}/history-loader.ts`,
    code: 'const next = end && this.#read(end);',
    replacement: 'const next = end && this.#read({ ...end, commit: page.events[0]!.commit });',
  },
  {
    fault: 'a page is read by each request that waits for it',
    file: `${SRC}/history-loader.ts`,
    code: 'if (this.#loading === undefined) {',
    replacement: 'if (this.#loading === undefined || this.pages > 1) {',
  },
  {
    fault: 'a reset in the middle of a load ends it as complete',
    file: `${SRC}/history-loader.ts`,
    code: "        if (page.status === 'reset') this.target.reset();",
    replacement: "        if (page.status === 'reset') return true;",
    test: {
      file: 'test/event-sourcing/aggregate.history.unit.test.ts',
      title: 'detects it between two pages of a load',
    },
  },
  {
    fault: 'a page is applied that was read before a snapshot was discarded',
    file: `${SRC}/history-loader.ts`,
    code: 'return this.target.head() === head ? page : this.#read(BEGINNING);',
    replacement: 'return page;',
  },
  {
    fault: 'a snapshot is believed although the history does not have its head',
    file: `${SRC}/history-loader.ts`,
    code: '    this.target.reset();\n    return undefined;',
    replacement: "    return { status: 'read', events: [], more: false };",
    test: {
      file: 'test/event-sourcing/aggregate.snapshots.unit.test.ts',
      title: 'ignores a snapshot',
    },
  },
  {
    fault: 'a snapshot that the history does not have is reported as a lost history',
    file: `${SRC}/stream-state.ts`,
    code: '    this.#unconfirmed = head.version > 0;',
    replacement: '    this.#unconfirmed = false;',
  },
  {
    fault: 'a snapshot is saved with the head at which it was due',
    file: `${SRC}/stream-state.ts`,
    code: '    const current = () =>\n      this.loading || !this.#caughtUp ? undefined : { state: this.value, head: this.head };',
    replacement:
      '    const { head } = this;\n    const current = () => (this.loading || !this.#caughtUp ? undefined : { state: this.value, head });',
  },
  {
    fault: 'a broken snapshot leaves what was decoded of it in the state',
    file: `${SRC}/stream-snapshots.ts`,
    code: '      if (begun) yield { state: this.initialState(), head: BEGINNING };\n',
    replacement: '',
  },
  {
    fault: 'only the last chunk of a snapshot is decoded',
    file: `${SRC}/stream-snapshots.ts`,
    code: 'state = readNext(state, chunk.value);',
    replacement: 'state = readNext(this.initialState(), chunk.value);',
  },
  {
    fault: 'two snapshots are saved at once',
    file: `${SRC}/save-slot.ts`,
    code: '    this.#taken = true;\n',
    replacement: '',
  },
  {
    fault: 'an archive in the middle of a load is reported as a lost history',
    file: `${SRC}/history-loader.ts`,
    code: 'else this.target.startOver();',
    replacement: 'else this.target.reset();',
    test: {
      file: 'test/event-sourcing/aggregate.archived.unit.test.ts',
      title: 'loads again if events are archived between two pages of a load',
    },
  },
];

const SUBSCRIPTIONS: readonly SimulatedFault[] = [
  {
    fault: 'a subscription waits for ever for a reply that was lost',
    file: `${SRC}/subscribe.ts`,
    code: 'cancelTimer = this.clock.after(READ_MS, () => reject(error));',
    replacement: 'cancelTimer = this.clock.after(1000 * READ_MS, () => reject(error));',
  },
  {
    fault: 'a subscription begins again after the store was unavailable',
    file: `${SRC}/subscribe.ts`,
    code: 'if (result === undefined) continue;',
    replacement: 'head = result === undefined ? after : head;\n    if (result === undefined) continue;',
  },
  {
    fault: 'a subscription does not notice a lost history',
    file: `${SRC}/subscribe.ts`,
    code: 'const page = pageOfRead(result, head);',
    replacement:
      "const page = result.status === 'reset' ? { events: [], more: false } : pageOfRead(result, head);",
  },
  {
    fault: 'a subscription does not notice archived events',
    file: `${SRC}/replay.ts`,
    code: "  if (result.status === 'archived') throw new ArchivedHistory(head);\n",
    replacement: "  if (result.status === 'archived') return { events: [], more: false };\n",
  },
  {
    fault: 'a subscription believes that it gets each notification',
    file: `${SRC}/subscribe.ts`,
    code: 'await this.#wait(CHECK_MS, (end)',
    replacement: 'await this.#wait(1000 * CHECK_MS, (end)',
  },
  {
    fault: 'a subscription waits although a page follows',
    file: `${SRC}/subscribe.ts`,
    code: 'if (!page.more) await',
    replacement: 'await',
    test: {
      file: 'test/event-sourcing/subscribe.unit.test.ts',
      title: 'page',
    },
  },
  {
    fault: 'a subscription keeps its timer',
    file: `${SRC}/subscribe.ts`,
    code: '    cancelTimer();\n    cancelNotification?.();',
    replacement: '    void cancelTimer;\n    cancelNotification?.();',
  },
  {
    fault: 'a subscription keeps its notification',
    file: `${SRC}/subscribe.ts`,
    code: '    cancelTimer();\n    cancelNotification?.();',
    replacement: '    cancelTimer();\n    void cancelNotification;',
  },
  {
    fault: 'a subscription reads ahead of its consumer',
    file: `${SRC}/subscribe.ts`,
    code: '      head = headAfter(head, event);\n      yield event;',
    replacement:
      '      head = headAfter(head, event);\n      if (event.version % 2 === 1) await source.read(head);\n      yield event;',
  },
];

const ENGINE: readonly SimulatedFault[] = [
  ...ROUNDS,
  ...BOUNDS,
  ...OUTCOMES,
  ...LOADS,
  ...SUBSCRIPTIONS,
  {
    fault: 'the simulated store removes events that no base has',
    file: 'test/world/simulated/redis-model.ts',
    code: 'const end = Math.min(this.bases.get(stream)?.head.version ?? 0, oldest + events);',
    replacement: 'const end = Math.min(this.history(stream).length, oldest + events);',
  },
  {
    fault: 'the simulated store does not compare commits',
    file: 'test/world/simulated/redis-model.ts',
    code: 'return (version === 0 ? BEGINNING.commit : history[version - 1]?.commit) === commit;',
    replacement: 'return version <= history.length || commit === BEGINNING.commit;',
  },
  {
    fault: 'the simulated store does not compare versions',
    file: 'test/world/simulated/redis-model.ts',
    code: 'return recorded?.commit === commit && isDeepStrictEqual(recorded.event, event);',
    replacement: 'return recorded !== undefined;',
  },
  {
    fault: 'the simulated store acknowledges an append that no replica has',
    file: 'test/world/simulated/network.ts',
    code: "result.status === 'appended' && this.store.wait(offset) < this.options.waitReplicas",
    replacement: 'false',
  },
];

/** The append script, WAIT, and the queue of appends. */
const APPENDS: readonly SimulatedFault[] = [
  {
    fault: 'an append is not followed by WAIT',
    file: `${REDIS}/append-writer.ts`,
    code: 'waitReplicas > 0 ? client.wait(waitReplicas, this.connection.waitMs) : 0;',
    replacement: 'waitReplicas > 0 ? waitReplicas : 0;',
  },
  {
    fault: 'too few replicas confirm an append, and it is acknowledged',
    file: `${REDIS}/append-writer.ts`,
    code: "if (typeof answer === 'number' && answer >= waitReplicas) return;",
    replacement: "if (typeof answer === 'number') return;",
  },
  {
    fault: 'WAIT is confirmed by one replica, however many are required',
    file: `${REDIS}/append-writer.ts`,
    code: "typeof answer === 'number' && answer >= waitReplicas",
    replacement: "typeof answer === 'number' && answer >= Math.min(1, waitReplicas)",
    test: {
      file: 'test/adapters/redis/append-writer.redis.test.ts',
      title: 'while fewer replicas than required have confirmed them',
    },
  },
  {
    fault: 'an append in a conflict is reported as unconfirmed',
    file: `${REDIS}/event-store.ts`,
    code: "if (status !== 'conflict') return { status };",
    replacement: "if (status !== 'conflict') return { status };\n      throw new Error('a conflict');",
  },
  {
    fault: 'an append that Redis did not confirm has a new commit id when it is repeated',
    file: `${REDIS}/event-store.ts`,
    code: 'const args = [expected.version, expected.commit, commit,',
    replacement: 'const args = [expected.version, expected.commit, `${commit}${performance.now()}`,',
  },
  {
    fault: 'the head after an append is that of its first event',
    file: `${REDIS}/event-store.ts`,
    code: 'version: expected.version + events.length, commit',
    replacement: 'version: expected.version + 1, commit',
  },
  {
    fault: 'an append that Redis did not confirm counts as unavailable',
    file: `${REDIS}/faults.ts`,
    code: "return new OutcomeUnknown('Redis did not confirm the append', { cause: error });",
    replacement: 'return readFault(error);',
    test: { file: 'test/adapters/redis/faults.unit.test.ts', title: 'has an unknown outcome' },
  },
  {
    fault: 'an append waits without a limit for its turn',
    file: `${REDIS}/append-writer.ts`,
    code: 'if (this.#unsent.has(append)) append.expiry = this.#expire(append);',
    replacement: '',
  },
  {
    fault: 'an append that was sent expires as if it was not',
    file: `${REDIS}/append-writer.ts`,
    code: '      clearTimeout(append.expiry);\n',
    replacement: '',
  },
  {
    fault: 'an append that has expired is sent',
    file: `${REDIS}/append-writer.ts`,
    code: 'withoutScript.filter(({ expired }) => !expired)',
    replacement: 'withoutScript',
  },
  {
    fault: 'an append that has expired keeps its place in the queue',
    file: `${REDIS}/append-writer.ts`,
    code: '      this.#unsent.delete(append);\n      this.#release(append);\n      append.reject',
    replacement: '      this.#unsent.delete(append);\n      append.reject',
  },
  {
    fault: 'an append whose script Redis does not know is sent without it again',
    file: `${REDIS}/append-writer.ts`,
    code: '          append.sendsScript = true;\n',
    replacement: '',
  },
  {
    fault: 'the queue of appends has no limit',
    file: `${REDIS}/append-writer.ts`,
    code: 'return held.appends === 0 || (held.appends < bounds.appends && held.bytes + bytes <= bounds.bytes);',
    replacement: 'return true;',
  },
  {
    fault: 'one append more than the queue limit waits',
    file: `${REDIS}/append-writer.ts`,
    code: 'held.appends < bounds.appends &&',
    replacement: 'held.appends <= bounds.appends &&',
  },
  {
    fault: 'the bytes of the queue of appends have no limit',
    file: `${REDIS}/append-writer.ts`,
    code: ' && held.bytes + bytes <= bounds.bytes);',
    replacement: ');',
  },
  {
    fault: 'an append that timed out leaves the queue at once',
    file: `${REDIS}/append-writer.ts`,
    code: 'await this.connection.untilAnswered();',
    replacement: ';',
  },
  {
    fault: 'one probe answers for all appends that ever timed out',
    file: `${REDIS}/connection.ts`,
    code: '      this.#queuedProbe = undefined;\n',
    replacement: '',
  },
  {
    fault: 'the place of an append in the queue is not released',
    file: `${REDIS}/append-writer.ts`,
    code: 'for (const append of batch) if (!withoutScript.has(append)) this.#release(append);',
    replacement: '',
  },
  {
    fault: 'an append is acknowledged before WAIT is answered',
    file: `${REDIS}/append-writer.ts`,
    code: "if (reply[0] === 'appended') await confirmed;",
    replacement: 'void confirmed;',
    test: {
      file: 'test/adapters/redis/append-writer.redis.test.ts',
      title: 'have an unknown outcome while fewer replicas than required have confirmed them',
    },
  },
  {
    fault: 'WAIT is sent one round trip after its appends',
    file: `${REDIS}/append-writer.ts`,
    code: 'client.wait(waitReplicas, this.connection.waitMs) : 0;',
    replacement:
      'Promise.allSettled(replies).then(() => client.wait(waitReplicas, this.connection.waitMs)) : 0;',
    test: {
      file: 'test/adapters/redis/append-writer.unit.test.ts',
      title: 'are sent together with their WAIT',
    },
  },
  {
    fault: 'an append on a connection that was closed counts as never sent',
    file: `${REDIS}/faults.ts`,
    code: "error.message.endsWith('enableOfflineQueue options is false');",
    replacement: '/enableOfflineQueue options is false$|^Connection is closed/.test(error.message);',
    test: {
      file: 'test/adapters/redis/faults.unit.test.ts',
      title: 'has an unknown outcome after',
    },
  },
];

/** Reads, heads, and servers that are no primary any more. */
const READS: readonly SimulatedFault[] = [
  {
    fault: 'a read believes a demoted server',
    file: `${REDIS}/event-store.ts`,
    code: '[after.version, ...bounds, ...proof.args]',
    replacement: "[after.version, ...bounds, -1, 0, '']",
  },
  {
    fault: 'a read does not compare the version of its head',
    file: `${REDIS}/event-store.ts`,
    code: 'if (known?.id !== `${after.version}-0` || known.recorded?.commit !== after.commit)',
    replacement: 'if (known !== undefined && known.recorded?.commit !== after.commit)',
  },
  {
    fault: 'a read of Redis does not compare commits',
    file: `${REDIS}/event-store.ts`,
    code: ' || known.recorded?.commit !== after.commit)',
    replacement: ')',
    test: { file: 'test/adapters/redis/lost-history.redis.test.ts', title: 'lists its plants' },
  },
  {
    fault: 'the page after a head has one event less, and the first page one more',
    file: `${REDIS}/event-store.ts`,
    code: 'return [version > 0 ? events + 1 : events, PAGE_BYTES];',
    replacement: 'return [version > 0 ? events : events + 1, PAGE_BYTES];',
  },
  {
    fault: 'the pages after a page that is decoded later are skipped',
    file: `${REDIS}/event-store.ts`,
    code: '      more: true,\n      end,',
    replacement: '      more: false,\n      end,',
  },
  {
    fault: 'a read whose script Redis does not know fails',
    file: `${REDIS}/scripts.ts`,
    code: '    if (!isUnknownScript(error)) throw error;\n',
    replacement: '    if (isUnknownScript(error) || sha1) throw error;\n',
  },
];

/** Connections, and what they release. */
const CONNECTIONS: readonly SimulatedFault[] = [
  {
    fault: 'a command has no timeout',
    file: `${REDIS}/client.ts`,
    code: 'commandTimeout: commandTimeout(options),',
    replacement: '',
  },
  {
    fault: 'a silent connection stays open',
    file: `${REDIS}/client.ts`,
    code: 'socketTimeout: options.timeoutMs,',
    replacement: '',
  },
  {
    fault: 'the pause before a reconnect has no limit',
    file: `${REDIS}/client.ts`,
    code: 'Math.min(25 * 2 ** times, 500)',
    replacement: '25 * 2 ** times',
  },
  {
    fault: 'a connection is given up after four attempts',
    file: `${REDIS}/client.ts`,
    code: 'retryStrategy: (times) => Math.min(25 * 2 ** times, 500),',
    replacement: 'retryStrategy: (times) => (times > 4 ? null : Math.min(25 * 2 ** times, 500)),',
  },
  {
    fault: 'a server that refuses a write because it was demoted keeps its connection',
    file: `${REDIS}/client.ts`,
    code: "reconnectOnError: (error) => error.message.includes('READONLY'),",
    replacement: '',
  },
  {
    fault: 'a demoted server keeps its connection',
    file: `${REDIS}/connection.ts`,
    code: "this.#unavailableReason = 'Redis was made a replica';\n      this.#client.disconnect(true);",
    replacement: "this.#unavailableReason = 'Redis was made a replica';",
  },
  {
    fault: 'a failed examination is not repeated',
    file: `${REDIS}/connection.ts`,
    code: 'if (this.#unavailableReason !== undefined) this.#later(() => void this.#examine());',
    replacement: '',
    test: { file: 'test/adapters/redis/start-up.redis.test.ts', title: 'if it could not be examined' },
  },
  {
    fault: 'a closed store examines its server for ever',
    file: `${REDIS}/connection.ts`,
    code: '    clearInterval(this.#examinationTimer);\n',
    replacement: '',
  },
  {
    fault: 'the error of ASKING on a Cluster node is unhandled',
    file: `${REDIS}/client.ts`,
    code: "return cluster.on('+node', handleAsking);",
    replacement: 'return cluster;',
  },
];

const NOTIFICATIONS: readonly SimulatedFault[] = [
  {
    fault: 'a subscriber is notified one event late',
    file: `${REDIS}/change-notifier.ts`,
    code: 'return `${Math.min(...versions)}-0`;',
    replacement: 'return `${Math.min(...versions) + 1}-0`;',
  },
  {
    fault: 'the connection for subscribers stays open',
    file: `${REDIS}/change-notifier.ts`,
    code: 'this.#linger = setTimeout(() => this.#disconnect(), LINGER_MS).unref();',
    replacement: '',
  },
  {
    fault: 'only the first subscriber of a stream is notified',
    file: `${REDIS}/change-notifier.ts`,
    code: 'for (const { changed } of waiters) changed();',
    replacement: 'for (const { changed } of [...waiters].slice(0, 1)) changed();',
  },
  {
    fault: 'subscribers are notified no more after a read for them has failed',
    file: `${REDIS}/change-notifier.ts`,
    code: '        await delay(RETRY_MS, undefined, { ref: false });\n',
    replacement: '        if (error) return;\n',
  },
  {
    fault: 'a stream is waited for after the newest head of its subscribers',
    file: `${REDIS}/change-notifier.ts`,
    code: 'Math.min(...versions)',
    replacement: 'Math.max(...versions)',
    test: {
      file: 'test/adapters/redis/change-notifier.unit.test.ts',
      title: 'notifies each subscriber of a stream that has newer events than its own',
    },
  },
  {
    fault: 'a cancelled subscriber is still waited for',
    file: `${REDIS}/change-notifier.ts`,
    code: '      waiters.delete(waiter);\n',
    replacement: '',
    test: {
      file: 'test/adapters/redis/change-notifier.unit.test.ts',
      title: 'waits no more for a subscriber that was cancelled',
    },
  },
];

const SIMULATOR: readonly SimulatedFault[] = [
  {
    fault: 'the simulated Cluster redirects to a node without the keys',
    file: 'test/world/simulated/redis/cluster-slots.ts',
    code: '`ASK ${to(keys)}`',
    replacement: '`ASK ${to(owner)}`',
  },
  {
    fault: 'the simulated Redis answers WAIT without its replicas',
    file: 'test/world/simulated/redis/simulated-redis.ts',
    code: 'reply: () => model.wait(connection.lastWrite),',
    replacement: 'reply: () => Number(replicas),',
  },
  {
    fault: 'the simulated Redis gives replies to the wrong connection',
    file: 'test/world/simulated/redis/simulated-redis.ts',
    code: '    connection.reply(encodeReply(reply));',
    replacement: '    this.connections.at(-1)!.reply(encodeReply(reply));',
  },
];

/** Faults of the engine and the Redis adapter that only a test finds. */
const TESTED: readonly Mutant[] = [
  {
    fault: 'a command whose request has expired is decided again',
    file: `${SRC}/aggregate.ts`,
    code: 'const requests = round.filter((request) => !request.settled);',
    replacement: 'const requests = round.filter((request) => request.command || !request.settled);',
    test: {
      file: 'test/event-sourcing/aggregate.history.unit.test.ts',
      title: 'leaves the outcome of an unconfirmed commit unknown',
    },
  },
  {
    fault: 'a state is evicted while it is saved',
    file: `${SRC}/aggregate.ts`,
    code: 'if (this.#running || this.#state.loading || this.#state.saving) return false;',
    replacement: 'if (this.#running || this.#state.loading) return false;',
    test: {
      file: 'test/event-sourcing/aggregate.snapshots.unit.test.ts',
      title: 'is not evicted while its state is being saved',
    },
  },
  {
    fault: 'an append without a reply is not repeated',
    file: `${SRC}/stream-calls.ts`,
    code: 'if (!unknown || !isStoreFault(error) || !pending()) throw error;',
    replacement: 'throw error;',
    test: {
      file: 'test/event-sourcing/aggregate.lost-replies.unit.test.ts',
      title: 'acknowledges what the first attempt recorded',
    },
  },
  {
    fault: 'events that were applied before a reset count as current',
    file: `${SRC}/aggregate.ts`,
    code: '          this.#state.loseHistory();\n          current = false;',
    replacement: '          this.#state.loseHistory();',
    test: {
      file: 'test/event-sourcing/aggregate.history.unit.test.ts',
      title: 'does not treat events applied before the loss as current',
    },
  },
  {
    fault: 'an append whose reply was lost is decided again after its events were archived',
    file: `${SRC}/stream-calls.ts`,
    code: " || result.status === 'archived'",
    replacement: '',
    test: {
      file: 'test/event-sourcing/aggregate.archived.unit.test.ts',
      title: 'leaves the outcome of an append unknown if its reply was lost and its events were archived',
    },
  },
  {
    fault: 'WAIT may take longer than its command',
    file: `${REDIS}/connection.ts`,
    code: 'this.commandTimeoutMs * 0.8',
    replacement: 'this.commandTimeoutMs * 1.2',
    test: {
      file: 'test/adapters/redis/append-writer.redis.test.ts',
      title: 'have an unknown outcome by the reply of WAIT',
    },
  },
  {
    fault: 'the bytes of a waiting command that has expired are not released',
    file: `${SRC}/request-queue.ts`,
    code: '      this.#waitingBytes -= request.bytes;\n',
    replacement: '',
    test: {
      file: 'test/application/plant-store.memory.unit.test.ts',
      title: 'leave room for others when they have expired',
    },
  },
  {
    fault: 'loads that no request waits for have no limit',
    file: `${SRC}/load-queue.ts`,
    code: 'return this.#long.filter((turn) => !turn.load.wanted()).length < MAX_UNWANTED;',
    replacement: 'return true;',
    test: {
      file: 'test/event-sourcing/load-queue.unit.test.ts',
      title: 'continues eight long loads whose requests have expired, and drops the others',
    },
  },
  {
    fault: 'a query of a round in doubt fails as in doubt',
    file: `${SRC}/request-queue.ts`,
    code: "return cause instanceof OutcomeUnknown ? new StoreUnavailable('the round failed', { cause }) : cause;",
    replacement: 'return cause;',
    test: {
      file: 'test/event-sourcing/aggregate.deadlines.unit.test.ts',
      title: 'fails each of its requests with the error that applies to it',
    },
  },
  {
    fault: 'a load does not start over when the events after its page are archived',
    file: `${SRC}/history-loader.ts`,
    code: '        else this.target.startOver();\n',
    replacement: '',
    test: {
      file: 'test/event-sourcing/aggregate.archived.unit.test.ts',
      title: 'loads again if events are archived between two pages of a load',
    },
  },
  {
    fault: 'a base that is replaced while it is loaded makes its history unreadable',
    file: `${SRC}/history-loader.ts`,
    code: '      if (known.version < version) continue;\n',
    replacement: '',
    test: {
      file: 'test/event-sourcing/aggregate.archived.unit.test.ts',
      title: 'loads from a newer base that replaces the one that it has loaded',
    },
  },
  {
    fault: 'an unusable snapshot is not replaced',
    file: `${SRC}/stream-snapshots.ts`,
    code: '    this.#unusable = true;\n',
    replacement: '',
    test: {
      file: 'test/event-sourcing/aggregate.snapshots.unit.test.ts',
      title: 'replays the history, and replaces the snapshot',
    },
  },
  {
    fault: 'an append whose script Redis does not know is sent after later ones',
    file: `${REDIS}/append-writer.ts`,
    code: 'new Set([...unsent, ...this.#unsent])',
    replacement: 'new Set([...this.#unsent, ...unsent])',
    test: {
      file: 'test/adapters/redis/append-writer.unit.test.ts',
      title: 'stay in order if Redis knows the script only after the first one',
    },
  },
  {
    fault: "a demoted server's conflict is believed",
    file: `${REDIS}/scripts.ts`,
    code: "    if why then return {why} end\n    return {'conflict'",
    replacement: "    if why and why ~= 'replica' then return {why} end\n    return {'conflict'",
    test: {
      file: 'test/adapters/redis/append.redis.test.ts',
      title: 'does not result in a conflict on a Redis that was demoted',
    },
  },
  {
    fault: 'reads wait for replicas',
    file: `${REDIS}/open.ts`,
    code: 'waitReplicas > 0 ? new RedisConnection(ofStore) : writer;',
    replacement: 'writer;',
    test: {
      file: 'test/adapters/redis/start-up.redis.test.ts',
      title: 'even if only the connection for reads leads to it',
    },
  },
  {
    fault: 'a closed store keeps its connection for subscribers',
    file: `${REDIS}/open.ts`,
    code: '      notifier?.close();\n',
    replacement: '',
    test: {
      file: 'test/adapters/redis/change-notifier.unit.test.ts',
      title: 'closes its connection with the store',
    },
  },
  {
    fault: 'a stream without a subscriber is still waited for',
    file: `${REDIS}/change-notifier.ts`,
    code: '      if (waiters.size === 0 && this.#waiting.get(key) === waiters) this.#waiting.delete(key);\n',
    replacement: '',
    test: {
      file: 'test/adapters/redis/change-notifier.unit.test.ts',
      title: 'waits no more for a subscriber that was cancelled',
    },
  },
  {
    fault: 'a subscriber that is cancelled late takes the later ones of its stream with it',
    file: `${REDIS}/change-notifier.ts`,
    code: 'waiters.size === 0 && this.#waiting.get(key) === waiters',
    replacement: 'waiters.size === 0',
    test: {
      file: 'test/adapters/redis/change-notifier.unit.test.ts',
      title: 'waits for a subscriber although an earlier one',
    },
  },
  {
    fault: 'a subscriber is notified by a demoted server',
    file: `${REDIS}/change-notifier.ts`,
    code: '      connection.mustBePrimary(),\n',
    replacement: '      undefined,\n',
    test: {
      file: 'test/adapters/redis/change-notifier.unit.test.ts',
      title: 'does not wait on a server that was demoted',
    },
  },
];

/** Faults of the engine, of the Redis adapter and of the simulator. */
export const SIMULATED: readonly Mutant[] = [
  ...TESTED,
  ...ENGINE.map((fault): Mutant => ({ ...fault, simulation: 'engine' })),
  ...[...APPENDS, ...READS, ...CONNECTIONS, ...NOTIFICATIONS, ...SIMULATOR].map((fault): Mutant => ({
    ...fault,
    simulation: 'adapter',
  })),
];
