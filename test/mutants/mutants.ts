/** A fault that `npm run test:mutants` plants into a copy of the code, and the test that must fail with it. */
export interface Mutant {
  /** What is wrong, as a sentence. */
  readonly fault: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly code: string;
  readonly replacement: string;
  readonly test: {
    readonly file: string;
    /** A part of the test's title, which includes the titles of its suites. */
    readonly title: string;
  };
}

/** The code of its file with the fault. Throws if the file does not have the code to replace exactly once. */
export function mutated(text: string, { file, code, replacement }: Mutant): string {
  const [before, after, ...others] = text.split(code);
  if (after === undefined || others.length > 0)
    throw new Error(`${file} does not have this code exactly once: ${code}`);
  return `${before!}${replacement}${after}`;
}

const SIMULATION = {
  file: 'test/simulation/simulation.unit.test.ts',
  title: 'violate no guarantee in the schedules of fixed seeds',
};

const ADAPTER_SIMULATION = {
  file: 'test/simulation/adapter-simulation.unit.test.ts',
  title: 'violate no guarantee in the adapter schedules of fixed seeds',
};

/** Faults of the Redis adapter, and of what stands behind its sockets, that the simulator finds. */
const ADAPTER: readonly Omit<Mutant, 'test'>[] = [
  {
    fault: 'too few replicas confirm an append, and it is acknowledged',
    file: 'src/adapters/redis/append-writer.ts',
    code: "if (typeof answer === 'number' && answer >= waitReplicas) return;",
    replacement: "if (typeof answer === 'number') return;",
  },
  {
    fault: 'an append in a conflict is reported as unconfirmed',
    file: 'src/adapters/redis/event-store.ts',
    code: "if (status !== 'conflict') return { status };",
    replacement: "if (status !== 'conflict') return { status };\n      throw new Error('a conflict');",
  },
  {
    fault: 'a repeated append has a new commit id',
    file: 'src/adapters/redis/event-store.ts',
    code: 'const args = [expected.version, expected.commit, commit, ...bounds];',
    replacement:
      'const args = [expected.version, expected.commit, `${commit}${performance.now()}`, ...bounds];',
  },
  {
    fault: 'an append without a reply is reported as not written',
    file: 'src/adapters/redis/faults.ts',
    code: "return new OutcomeUnknown('Redis did not confirm the append', { cause: error });",
    replacement: 'return readFault(error);',
  },
  {
    fault: 'an append waits without a limit for its turn',
    file: 'src/adapters/redis/append-writer.ts',
    code: 'if (this.#unsent.has(append)) append.expiry = this.#expire(append);',
    replacement: '',
  },
  {
    fault: 'an append that has expired is sent',
    file: 'src/adapters/redis/append-writer.ts',
    code: 'withoutScript.filter(({ expired }) => !expired)',
    replacement: 'withoutScript',
  },
  {
    fault: 'the queue of appends has no limit',
    file: 'src/adapters/redis/append-writer.ts',
    code: 'return held.appends === 0 || (held.appends < bounds.appends && held.bytes + bytes <= bounds.bytes);',
    replacement: 'return true;',
  },
  {
    fault: 'an append that timed out leaves the queue at once',
    file: 'src/adapters/redis/append-writer.ts',
    code: 'await this.connection.untilAnswered();',
    replacement: ';',
  },
  {
    fault: 'the place of an append in the queue is not released',
    file: 'src/adapters/redis/append-writer.ts',
    code: 'for (const append of batch) if (!withoutScript.has(append)) this.#release(append);',
    replacement: '',
  },
  {
    fault: 'a command has no timeout',
    file: 'src/adapters/redis/client.ts',
    code: 'commandTimeout: commandTimeout(options),',
    replacement: '',
  },
  {
    fault: 'a silent connection stays open',
    file: 'src/adapters/redis/client.ts',
    code: 'socketTimeout: options.timeoutMs,',
    replacement: '',
  },
  {
    fault: 'the pause before a reconnect has no limit',
    file: 'src/adapters/redis/client.ts',
    code: 'Math.min(25 * 2 ** times, 500)',
    replacement: '25 * 2 ** times',
  },
  {
    fault: 'a read believes a demoted server',
    file: 'src/adapters/redis/event-store.ts',
    code: '        this.reader.mustBePrimary(),\n',
    replacement: '',
  },
  {
    fault: 'a demoted server keeps its connection',
    file: 'src/adapters/redis/connection.ts',
    code: "this.#unavailableReason = 'Redis was made a replica';\n      this.#client.disconnect(true);",
    replacement: "this.#unavailableReason = 'Redis was made a replica';",
  },
  {
    fault: 'a server that was too busy at first is never examined again',
    file: 'src/adapters/redis/connection.ts',
    code: 'if (this.#unavailableReason !== undefined) this.#later(() => void this.#examine());',
    replacement: '',
  },
  {
    fault: 'a closed store examines its server for ever',
    file: 'src/adapters/redis/connection.ts',
    code: '    clearInterval(this.#examinationTimer);\n',
    replacement: '',
  },
  {
    fault: 'a subscriber is notified one event late',
    file: 'src/adapters/redis/change-notifier.ts',
    code: 'return `${Math.min(...versions)}-0`;',
    replacement: 'return `${Math.min(...versions) + 1}-0`;',
  },
  {
    fault: 'the error of ASKING on a Cluster node is unhandled',
    file: 'src/adapters/redis/client.ts',
    code: "return cluster.on('+node', handleAsking);",
    replacement: 'return cluster;',
  },
  {
    fault: 'the simulated Cluster redirects to a node without the keys',
    file: 'test/simulation/redis/cluster-slots.ts',
    code: '`ASK ${to(keys)}`',
    replacement: '`ASK ${to(owner)}`',
  },
  {
    fault: 'the connection for subscribers stays open',
    file: 'src/adapters/redis/change-notifier.ts',
    code: 'this.#linger = setTimeout(() => this.#disconnect(), LINGER_MS).unref();',
    replacement: '',
  },
  {
    fault: 'the simulated Redis answers WAIT without its replicas',
    file: 'test/simulation/redis/simulated-redis.ts',
    code: 'reply: () => model.wait(connection.lastWrite),',
    replacement: 'reply: () => Number(replicas),',
  },
  {
    fault: 'the simulated Redis gives replies to the wrong connection',
    file: 'test/simulation/redis/simulated-redis.ts',
    code: '    connection.reply(encodeReply(reply));',
    replacement: '    this.connections.at(-1)!.reply(encodeReply(reply));',
  },
];

/** Faults of the engine that the simulator finds, and a unit test, too. */
const ENGINE: readonly Mutant[] = [
  {
    fault: 'a query is answered without a read barrier',
    file: 'src/event-sourcing/stream-state.ts',
    code: 'const result = await this.calls.read(this.head);',
    replacement: 'if (this.#caughtUp) return true;\n    const result = await this.calls.read(this.head);',
    test: {
      file: 'test/event-sourcing/aggregate.rounds.unit.test.ts',
      title: 'never answers from memory alone',
    },
  },
  {
    fault: 'a load that an earlier round started is the read barrier of a later one',
    file: 'src/event-sourcing/aggregate.ts',
    code: '        await this.#state.load();\n        continue;',
    replacement: '        current = await this.#state.load();\n        continue;',
    test: {
      file: 'test/event-sourcing/aggregate.history.unit.test.ts',
      title: 'is loaded across expired requests',
    },
  },
  {
    fault: 'a reset is ignored by a read',
    file: 'src/event-sourcing/stream-state.ts',
    code: '    this.loseHistory();\n    return false;\n  }\n\n  /** Applies the newer events of a read',
    replacement: '    return true;\n  }\n\n  /** Applies the newer events of a read',
    test: {
      file: 'test/event-sourcing/aggregate.history.unit.test.ts',
      title: 'reloads the stream and serves the events that are left',
    },
  },
  {
    fault: 'an append without a reply counts as unavailable',
    file: 'src/event-sourcing/stream-calls.ts',
    code: '    setInDoubt(true);\n',
    replacement: '',
    test: {
      file: 'test/event-sourcing/aggregate.lost-replies.unit.test.ts',
      title: 'fails commands with events as unknown and the others as unavailable',
    },
  },
  {
    fault: 'an append counts as unavailable if its retry is refused',
    file: 'src/event-sourcing/stream-calls.ts',
    code: 'unknown ||= !(error instanceof StoreUnavailable);',
    replacement: 'unknown = !(error instanceof StoreUnavailable);',
    test: {
      file: 'test/event-sourcing/aggregate.lost-replies.unit.test.ts',
      title: 'keeps retrying while the store is unavailable',
    },
  },
  {
    fault: 'a repeated append has a new commit id',
    file: 'src/event-sourcing/stream-calls.ts',
    code: 'await this.#append(expected, commit, events);',
    replacement: 'await this.#append(expected, `${commit}${this.made}`, events);',
    test: {
      file: 'test/event-sourcing/aggregate.lost-replies.unit.test.ts',
      title: 'acknowledges what the first attempt recorded',
    },
  },
  {
    fault: 'a snapshot is believed although the history does not have its head',
    file: 'src/event-sourcing/history-loader.ts',
    code: '    this.target.reset();\n    return undefined;',
    replacement: "    return { status: 'read', events: [], more: false };",
    test: {
      file: 'test/event-sourcing/aggregate.snapshots.unit.test.ts',
      title: 'ignores a snapshot',
    },
  },
  {
    fault: 'the memory of a state that did not fit is not free at once',
    file: 'src/event-sourcing/stream-state.ts',
    code: '    this.owner.fits();\n    const full',
    replacement: '    const full',
    test: {
      file: 'test/application/plant-store.memory.unit.test.ts',
      title: 'serves one of two users that do not fit together',
    },
  },
];

/** Faults of subscriptions, archives and caches that the simulator finds. */
const SIMULATED: readonly Omit<Mutant, 'test'>[] = [
  {
    fault: 'a subscription waits for ever for a reply that was lost',
    file: 'src/event-sourcing/subscribe.ts',
    code: 'cancelTimer = this.clock.after(READ_MS, () => reject(error));',
    replacement: 'cancelTimer = this.clock.after(1000 * READ_MS, () => reject(error));',
  },
  {
    fault: 'a subscription begins again after the store was unavailable',
    file: 'src/event-sourcing/subscribe.ts',
    code: 'if (result === undefined) continue;',
    replacement: 'head = result === undefined ? after : head;\n    if (result === undefined) continue;',
  },
  {
    fault: 'a subscription does not notice a lost history',
    file: 'src/event-sourcing/subscribe.ts',
    code: 'const page = pageOfRead(result, head);',
    replacement:
      "const page = result.status === 'reset' ? { events: [], more: false } : pageOfRead(result, head);",
  },
  {
    fault: 'a subscription believes that it gets each notification',
    file: 'src/event-sourcing/subscribe.ts',
    code: 'await this.#wait(CHECK_MS, (end)',
    replacement: 'await this.#wait(1000 * CHECK_MS, (end)',
  },
  {
    fault: 'a subscription keeps its timer',
    file: 'src/event-sourcing/subscribe.ts',
    code: '    cancelTimer();\n    cancelNotification?.();',
    replacement: '    void cancelTimer;\n    cancelNotification?.();',
  },
  {
    fault: 'a subscription keeps its notification',
    file: 'src/event-sourcing/subscribe.ts',
    code: '    cancelTimer();\n    cancelNotification?.();',
    replacement: '    cancelTimer();\n    void cancelNotification;',
  },
  {
    fault: 'a subscription reads ahead of its consumer',
    file: 'src/event-sourcing/subscribe.ts',
    code: '      head = headAfter(head, event);\n      yield event;',
    replacement:
      '      head = headAfter(head, event);\n      if (event.version % 2 === 1) await source.read(head);\n      yield event;',
  },
  {
    fault: 'the simulated store removes events that no base has',
    file: 'test/simulation/redis-model.ts',
    code: 'const end = Math.min(this.bases.get(stream)?.head.version ?? 0, oldest + events);',
    replacement: 'const end = Math.min(this.history(stream).length, oldest + events);',
  },
  {
    fault: 'the cache evicts nothing',
    file: 'src/event-sourcing/aggregate-cache.ts',
    code: 'if (!this.#exceeds()) return;',
    replacement: 'if (!this.#exceeds() || this.#bytes > 0) return;',
  },
];

/** By layer. */
export const MUTANTS: readonly Mutant[] = [
  ...ENGINE,
  ...ENGINE.map((mutant) => ({ ...mutant, fault: `${mutant.fault}, in a simulation`, test: SIMULATION })),
  ...SIMULATED.map((mutant) => ({
    ...mutant,
    fault: `${mutant.fault}, in a simulation`,
    test: SIMULATION,
  })),
  ...ADAPTER.map((mutant) => ({
    ...mutant,
    fault: `${mutant.fault}, in an adapter simulation`,
    test: ADAPTER_SIMULATION,
  })),

  // The engine, of which the simulator finds no violation.
  {
    fault: 'a command in doubt is decided again after its history was lost',
    file: 'src/event-sourcing/stream-calls.ts',
    code: "result.status === 'reset' || ",
    replacement: '',
    test: {
      file: 'test/event-sourcing/aggregate.history.unit.test.ts',
      title: 'leaves the outcome of an unconfirmed commit unknown',
    },
  },
  {
    fault: 'events that were applied before a reset count as current',
    file: 'src/event-sourcing/aggregate.ts',
    code: '          this.#state.loseHistory();\n          current = false;',
    replacement: '          this.#state.loseHistory();',
    test: {
      file: 'test/event-sourcing/aggregate.history.unit.test.ts',
      title: 'does not treat events applied before the loss as current',
    },
  },
  {
    fault: 'a reset in the middle of a load ends it as complete',
    file: 'src/event-sourcing/history-loader.ts',
    code: "        if (page.status === 'reset') this.target.reset();",
    replacement: "        if (page.status === 'reset') return true;",
    test: {
      file: 'test/event-sourcing/aggregate.history.unit.test.ts',
      title: 'detects it between two pages of a load',
    },
  },
  {
    fault: 'a subscriber takes a repeated version for the next one',
    file: 'src/event-sourcing/replay.ts',
    code: 'if (event.version === version + 1) return',
    replacement: 'if (event.version <= version + 1) return',
    test: {
      file: 'test/event-sourcing/subscribe.unit.test.ts',
      title: 'if the store skips or repeats a version',
    },
  },
  {
    fault: 'a subscriber starts over by itself when its history was lost',
    file: 'src/event-sourcing/subscribe.ts',
    code: 'const page = pageOfRead(result, head);',
    replacement:
      "if (result.status !== 'read') {\n      head = { version: 0, commit: '' };\n      continue;\n    }\n    const page = result;",
    test: {
      file: 'test/event-sourcing/subscriptions.unit.test.ts',
      title: 'deliver each event exactly once and in order',
    },
  },
  {
    fault: 'a subscriber relies on every notification',
    file: 'src/event-sourcing/subscribe.ts',
    code: 'const CHECK_MS = 5000;',
    replacement: 'const CHECK_MS = 5e9;',
    test: {
      file: 'test/event-sourcing/subscriptions.unit.test.ts',
      title: 'deliver each event exactly once and in order',
    },
  },
  {
    fault: 'return() waits for the next event',
    file: 'src/event-sourcing/subscribe.ts',
    code: '      cancellation.cancel();\n',
    replacement: '',
    test: {
      file: 'test/event-sourcing/subscribe.unit.test.ts',
      title: 'when return() is called while next() waits',
    },
  },
  {
    fault: 'a subscriber that has ended keeps its notification',
    file: 'src/event-sourcing/subscribe.ts',
    code: '    cancelNotification?.();\n',
    replacement: '',
    test: {
      file: 'test/event-sourcing/subscribe.unit.test.ts',
      title: 'when the signal is aborted while it waits',
    },
  },
  {
    fault: 'the rejection of an unwanted page is unhandled in replay',
    file: 'src/event-sourcing/replay.ts',
    code: '      reading.catch(() => {});\n',
    replacement: '',
    test: {
      file: 'test/event-sourcing/replay.unit.test.ts',
      title: 'handles the rejection of a prefetched page',
    },
  },
  {
    fault: 'the rejection of an unwanted page is unhandled in a load',
    file: 'src/event-sourcing/history-loader.ts',
    code: '      next?.catch(() => {});\n',
    replacement: '',
    test: {
      file: 'test/event-sourcing/aggregate.history.unit.test.ts',
      title: 'handles the rejection of a prefetched page',
    },
  },

  // The model of Redis in the simulator.
  {
    fault: 'the simulated store does not compare commits',
    file: 'test/simulation/redis-model.ts',
    code: 'return (version === 0 ? BEGINNING.commit : history[version - 1]?.commit) === commit;',
    replacement: 'return version <= history.length || commit === BEGINNING.commit;',
    test: SIMULATION,
  },
  {
    fault: 'the simulated store does not compare versions',
    file: 'test/simulation/redis-model.ts',
    code: 'return recorded?.commit === commit && isDeepStrictEqual(recorded.event, event);',
    replacement: 'return recorded !== undefined;',
    test: SIMULATION,
  },
  {
    fault: 'the simulated store acknowledges an append that no replica has',
    file: 'test/simulation/network.ts',
    code: "result.status === 'appended' && this.store.wait(offset) < this.options.waitReplicas",
    replacement: 'false',
    test: SIMULATION,
  },

  // The Redis adapter, in a schedule that random ones rarely meet.
  {
    fault: 'a subscriber is notified by a demoted server',
    file: 'src/adapters/redis/change-notifier.ts',
    code: '      connection.mustBePrimary(),\n',
    replacement: '      undefined,\n',
    test: {
      file: ADAPTER_SIMULATION.file,
      title: 'notifies subscribers after a failover although the old primary keeps its connections',
    },
  },

  // The memory store, which is the reference of the contract.
  {
    fault: 'the memory store does not compare commits',
    file: 'src/adapters/memory/event-store.ts',
    code: 'return (version === 0 ? BEGINNING.commit : history[version - 1]?.commit) === commit;',
    replacement: 'return version <= history.length || commit === BEGINNING.commit;',
    test: { file: 'test/adapters/memory/event-store.unit.test.ts', title: 'MemoryEventStore' },
  },
  {
    fault: 'the memory store does not compare versions',
    file: 'src/adapters/memory/event-store.ts',
    code: 'if (next !== undefined && next.commit !== commit) {',
    replacement: 'if (next !== undefined && next.commit === undefined) {',
    test: { file: 'test/adapters/memory/event-store.unit.test.ts', title: 'MemoryEventStore' },
  },

  // The Redis store.
  {
    fault: 'the append script does not compare commits',
    file: 'src/adapters/redis/scripts.ts',
    code: "and entry[1] == version .. '-0' and entry[2][6]",
    replacement: "and entry[1] == version .. '-0' and base",
    test: { file: 'test/adapters/redis/event-store.redis.test.ts', title: 'RedisEventStore' },
  },
  {
    fault: 'the append script does not compare versions',
    file: 'src/adapters/redis/scripts.ts',
    code: 'if entries[1][2][6] ~= commit or not isRecorded(entries[1][1]) then',
    replacement: 'if false then',
    test: { file: 'test/adapters/redis/event-store.redis.test.ts', title: 'RedisEventStore' },
  },
  {
    fault: 'the append script takes another append with the same commit id for a repetition',
    file: 'src/adapters/redis/scripts.ts',
    code: ' or not isRecorded(entries[1][1]) then',
    replacement: ' then',
    test: {
      file: 'test/adapters/redis/append.redis.test.ts',
      title: 'with the commit id of a recorded append results in a conflict',
    },
  },
  {
    fault: 'the append script does not detect a lost history',
    file: 'src/adapters/redis/scripts.ts',
    code: "if known ~= base then return {'reset'} end",
    replacement: '',
    test: { file: 'test/adapters/redis/event-store.redis.test.ts', title: 'RedisEventStore' },
  },
  {
    fault:
      'a repeated append writes nothing: a demoted server acknowledges it, and WAIT has nothing to wait for',
    file: 'src/adapters/redis/scripts.ts',
    code: "redis.call('XSETID', stream, facts[i + 1])",
    replacement: '',
    test: {
      file: 'test/adapters/redis/append.redis.test.ts',
      title: 'does not acknowledge a retry on a Redis that was demoted',
    },
  },
  {
    fault: 'a read of Redis does not compare commits',
    file: 'src/adapters/redis/event-store.ts',
    code: ' || known.recorded?.commit !== after.commit)',
    replacement: ')',
    test: { file: 'test/adapters/redis/lost-history.redis.test.ts', title: 'lists its plants' },
  },
  {
    fault: 'an append that Redis did not confirm counts as unavailable',
    file: 'src/adapters/redis/faults.ts',
    code: "return new OutcomeUnknown('Redis did not confirm the append', { cause: error });",
    replacement: 'return readFault(error);',
    test: { file: 'test/adapters/redis/faults.unit.test.ts', title: 'has an unknown outcome' },
  },
  {
    fault: 'WAIT is confirmed by one replica, however many are required',
    file: 'src/adapters/redis/append-writer.ts',
    code: "typeof answer === 'number' && answer >= waitReplicas",
    replacement: "typeof answer === 'number' && answer >= Math.min(1, waitReplicas)",
    test: {
      file: 'test/adapters/redis/append-writer.redis.test.ts',
      title: 'while fewer replicas than required have confirmed them',
    },
  },
  {
    fault: 'a conflict waits for the confirmation of replicas',
    file: 'src/adapters/redis/append-writer.ts',
    code: "if (reply[0] === 'appended') await confirmed;",
    replacement: 'await confirmed;',
    test: {
      file: 'test/adapters/redis/append-writer.redis.test.ts',
      title: 'conflict without the confirmation of a replica',
    },
  },
  {
    fault: 'WAIT may take longer than its command',
    file: 'src/adapters/redis/connection.ts',
    code: 'this.commandTimeoutMs * 0.8',
    replacement: 'this.commandTimeoutMs * 1.2',
    test: {
      file: 'test/adapters/redis/append-writer.redis.test.ts',
      title: 'conflict without the confirmation of a replica',
    },
  },
  {
    fault: 'a failed examination is not repeated',
    file: 'src/adapters/redis/connection.ts',
    code: 'if (this.#unavailableReason !== undefined) this.#later(() => void this.#examine());',
    replacement: '',
    test: { file: 'test/adapters/redis/start-up.redis.test.ts', title: 'if it could not be examined' },
  },
  {
    fault: 'a refused server is not examined again',
    file: 'src/adapters/redis/connection.ts',
    code: 'if (this.#unavailableReason !== undefined) this.#later(() => this.#client.disconnect(true));',
    replacement: '',
    test: {
      file: 'test/adapters/redis/examination.redis.test.ts',
      title: 'refuses it when its eviction policy changes',
    },
  },
  {
    fault: 'the problem of the connection for reads is ignored at opening',
    file: 'src/adapters/redis/open.ts',
    code: 'unavailableReason: () => writer.unavailableReason ?? reader.unavailableReason,',
    replacement: 'unavailableReason: () => writer.unavailableReason,',
    test: {
      file: 'test/adapters/redis/start-up.redis.test.ts',
      title: 'even if only the connection for reads leads to it',
    },
  },
  {
    fault: 'streams are listed on a server that was demoted',
    file: 'src/adapters/redis/stream-catalogue.ts',
    code: "'COUNT', SCAN_COUNT),\n        this.connection.mustBePrimary(),",
    replacement: "'COUNT', SCAN_COUNT),",
    test: {
      file: 'test/adapters/redis/stream-catalogue.redis.test.ts',
      title: 'the catalogue lists no stream',
    },
  },
  {
    fault: 'a stream is found on a server that was demoted',
    file: 'src/adapters/redis/stream-catalogue.ts',
    code: 'streamKey(this.options.keyPrefix, stream)),\n        this.connection.mustBePrimary(),',
    replacement: 'streamKey(this.options.keyPrefix, stream)),',
    test: {
      file: 'test/adapters/redis/stream-catalogue.redis.test.ts',
      title: 'the catalogue finds no stream',
    },
  },
  {
    fault: 'a stream that SCAN returns twice is listed twice',
    file: 'src/adapters/redis/stream-catalogue.ts',
    code: '!seen.has(key) && seen.add(key)',
    replacement: 'seen.add(key)',
    test: { file: 'test/adapters/redis/stream-catalogue.unit.test.ts', title: 'lists a stream once' },
  },
  {
    fault: 'only the data of an entry is checked for invalid UTF-8',
    file: 'src/adapters/redis/entry.ts',
    code: '(type === undefined || data === undefined || commit === undefined)',
    replacement: '(data === undefined)',
    test: {
      file: 'test/adapters/redis/unreadable-history.redis.test.ts',
      title: 'a commit that is no UTF-8',
    },
  },

  // Authentication.
  {
    fault: 'the generation of the keys is read after a token was verified',
    file: 'src/adapters/auth/json-web-tokens.ts',
    code: 'this.#cache.set(digest, verified, generation);',
    replacement: 'this.#cache.set(digest, verified, this.keys.generation);',
    test: {
      file: 'test/adapters/auth/json-web-tokens.unit.test.ts',
      title: 'is not cached if the keys changed while it was verified',
    },
  },

  // The command line.
  {
    fault: 'an export can be read by everyone',
    file: 'src/adapters/cli/output-file.ts',
    code: 'open(path, flags, 0o600)',
    replacement: 'open(path, flags, 0o644)',
    test: {
      file: 'test/adapters/cli/export-and-import.unit.test.ts',
      title: 'readable by its owner only',
    },
  },
  {
    fault: 'an export is not flushed to the disk before it replaces a file',
    file: 'src/adapters/cli/output-file.ts',
    code: 'createWriteStream({ flush: isFile })',
    replacement: 'createWriteStream()',
    test: {
      file: 'test/adapters/cli/export-and-import.unit.test.ts',
      title: 'flushes the export to the disk before it replaces the file',
    },
  },
  {
    fault: 'a commit of more than 1,000 events is imported as several',
    file: 'src/adapters/cli/event-file.ts',
    code: 'if (commit !== this.#commit) yield* this.#close();',
    replacement: 'if (commit !== this.#commit || this.#events.length >= 1000) yield* this.#close();',
    test: {
      file: 'test/adapters/cli/export-and-import.unit.test.ts',
      title: 'appends a commit of any number of events as a whole',
    },
  },
  {
    fault: 'the number of users in the trailer of an export is not checked',
    file: 'src/adapters/cli/event-file.ts',
    code: 'trailer.streams !== streams || ',
    replacement: '',
    test: {
      file: 'test/adapters/cli/export-and-import.unit.test.ts',
      title: 'an export with a wrong number of users',
    },
  },

  // The HTTP interface.
  {
    fault: 'a long response is never taken off the memory of long responses',
    file: 'src/adapters/http/response.ts',
    code: 'if (this.#readers.delete(body)) this.#bytes -= body.length;',
    replacement: 'this.#readers.delete(body);',
    test: {
      file: 'test/adapters/http/long-bodies.unit.test.ts',
      title: 'are not counted any more when their last reader has gone',
    },
  },
  {
    fault: 'a long response with several readers is counted once for each',
    file: 'src/adapters/http/response.ts',
    code: 'this.#readers.set(body, readers);\n      this.#bytes += body.length;\n    }',
    replacement: 'this.#readers.set(body, readers);\n    }\n    this.#bytes += body.length;',
    test: {
      file: 'test/adapters/http/long-bodies.unit.test.ts',
      title: 'are counted once, however many clients read them',
    },
  },
  {
    fault: 'a long response is dropped from memory with its first reader',
    file: 'src/adapters/http/response.ts',
    code: 'if (readers?.size === 0) this.#forget(body);',
    replacement: 'this.#forget(body);',
    test: {
      file: 'test/adapters/http/long-bodies.unit.test.ts',
      title: 'are counted until their last reader has gone',
    },
  },
  {
    fault: 'the bytes of a finished list are not released',
    file: 'src/adapters/http/list-renderer.ts',
    code: '    this.#bytes -= text.bytes;\n',
    replacement: '',
    test: {
      file: 'test/adapters/http/list-renderer.unit.test.ts',
      title: 'lets users take turns, piece by piece',
    },
  },
  {
    fault: 'the ranges of a finished list are not released',
    file: 'src/adapters/http/list-renderer.ts',
    code: '    this.#ranges -= text.size;\n',
    replacement: '',
    test: {
      file: 'test/adapters/http/list-renderer.unit.test.ts',
      title: 'counts the ranges of a list only until its text is made',
    },
  },
  {
    fault: 'a document that could not be loaded is never loaded again',
    file: 'src/adapters/http/response.ts',
    code: '      loading = undefined;\n',
    replacement: '',
    test: {
      file: 'test/adapters/http/docs.http.test.ts',
      title: 'is loaded again by the next request if it could not be loaded',
    },
  },
  {
    fault: 'If-None-Match is compared as a substring',
    file: 'src/adapters/http/response.ts',
    code: 'listed?.includes(etag) === true',
    replacement: 'condition.includes(etag)',
    test: {
      file: 'test/adapters/http/contract/memory.http.test.ts',
      title: 'an entity tag that contains the current one',
    },
  },
  {
    fault: 'a slow reader is disconnected without a reset',
    file: 'src/adapters/http/connection.ts',
    code: 'this.socket?.resetAndDestroy();',
    replacement: '',
    test: {
      file: 'test/adapters/http/edge/slow-clients.load.http.test.ts',
      title: 'are disconnected if they do not read their response for too long',
    },
  },
  {
    fault: 'HEAD ignores If-None-Match',
    file: 'src/adapters/http/response.ts',
    code: 'if (!isKnown(ctx, etag)) return false;',
    replacement: "if (!isKnown(ctx, etag) || ctx.method === 'HEAD') return false;",
    test: {
      file: 'test/adapters/http/model/model.http.test.ts',
      title: 'answers any requests as the model of the specification',
    },
  },
  {
    fault: 'the user of all requests of a connection is that of the first one',
    file: 'src/adapters/http/users.ts',
    code: 'ctx.state.user = user;',
    replacement: 'ctx.state.user = (ctx.req.socket as { user?: User }).user ??= user;',
    test: {
      file: 'test/adapters/http/model/model.http.test.ts',
      title: 'answers any requests as the model of the specification',
    },
  },
  {
    fault: 'a cached text of a list keeps the pool of which it is a slice',
    file: 'src/adapters/http/list-text.ts',
    code: 'const chunk = exactBuffer(piece);',
    replacement: 'const chunk = Buffer.from(piece);',
    test: { file: 'test/adapters/http/lists.unit.test.ts', title: 'is not a slice of a larger Buffer' },
  },
  {
    fault: 'a page of a list is cached across writes',
    file: 'src/adapters/http/lists.ts',
    code: 'if (cached !== undefined && isSameHead(cached.head, head)) return cached;',
    replacement: 'if (cached !== undefined) return cached;',
    test: {
      file: 'test/adapters/http/lists.unit.test.ts',
      title: 'is the same Buffer while nothing is written',
    },
  },
  {
    fault: 'a page of a list is cached across histories of the same length',
    file: 'src/event-sourcing/event-store.ts',
    code: 'return one.version === other.version && one.commit === other.commit;',
    replacement: 'return one.version === other.version;',
    test: { file: 'test/adapters/http/lists.unit.test.ts', title: 'another history of the same length' },
  },

  // The domain.
  {
    fault: 'a delete changes segments that were returned, and of which texts are cached',
    file: 'src/domain/segment.ts',
    code: 'const changed = this.#changeable();\n    changed.plants.splice(slot, 1);',
    replacement: 'const changed = this;\n    changed.plants.splice(slot, 1);',
    test: {
      file: 'test/domain/plant-list.unit.test.ts',
      title: 'does not change a page that was returned before',
    },
  },
  {
    fault: 'a segment is not merged with the one before it',
    file: 'src/domain/plant-list.ts',
    code: 'else if (before?.hasRoomFor(remaining)) {',
    replacement: 'else if (before?.hasRoomFor(remaining) && remaining.size > Segment.CAPACITY) {',
    test: {
      file: 'test/domain/plant-list.unit.test.ts',
      title: 'merges a segment with the one before it',
    },
  },
  {
    fault: 'a segment is not merged with the one after it',
    file: 'src/domain/plant-list.ts',
    code: '} else if (after?.hasRoomFor(remaining)) {',
    replacement: '} else if (after?.hasRoomFor(remaining) && remaining.size > Segment.CAPACITY) {',
    test: {
      file: 'test/domain/plant-list.unit.test.ts',
      title: 'merges a segment with the one before it',
    },
  },
  {
    fault: 'a notification misses what was recorded before its subscriber waited',
    file: 'src/adapters/redis/change-notifier.ts',
    code: 'return `${Math.min(...versions)}-0`;',
    replacement: "return versions.length > 0 ? '$' : '';",
    test: {
      file: 'test/adapters/redis/subscriptions.fault.test.ts',
      title: 'is notified of an event that was recorded before it waited',
    },
  },
  {
    fault: 'subscribers are not notified when Redis fails',
    file: 'src/adapters/redis/change-notifier.ts',
    code: '        for (const key of [...this.#waiting.keys()]) this.#changed(key);\n',
    replacement: '',
    test: {
      file: 'test/adapters/redis/subscriptions.fault.test.ts',
      title: 'reads while notifications are impossible',
    },
  },

  // The archives.
  {
    fault: 'events are removed before their archive was compared with the store',
    file: 'src/adapters/cli/archiving.ts',
    code: "if (found.digest('hex') === digest && end.head.version === head.version) return end;",
    replacement: 'if (digest) return { ...end, head };',
    test: {
      file: 'test/adapters/cli/archive.processes.redis.test.ts',
      title: 'removes nothing from the store if the file differs from the store',
    },
  },
  {
    fault: 'events are removed before the base snapshot was compared with the replay',
    file: 'src/adapters/cli/archiving.ts',
    code: 'if (digestOf(await decodeBase(stored)) !== expected)',
    replacement: 'if (stored.head.version < 0 && expected)',
    test: {
      file: 'test/adapters/cli/archive.processes.redis.test.ts',
      title: 'removes nothing from the store if the base snapshot that was written differs from the replay',
    },
  },
  {
    fault: 'events are removed without a base',
    file: 'src/adapters/redis/stream-archive.ts',
    code: 'if head[1] ~= version or head[2] ~= commit then return -1 end',
    replacement: '',
    test: {
      file: 'test/adapters/redis/stream-archive.redis.test.ts',
      title: 'if the base is another one when events are to be removed',
    },
  },
  {
    fault: 'an append whose reply was lost is decided again after its events were archived',
    file: 'src/event-sourcing/stream-calls.ts',
    code: " || result.status === 'archived'",
    replacement: '',
    test: {
      file: 'test/event-sourcing/aggregate.archived.unit.test.ts',
      title: 'leaves the outcome of an append unknown if its reply was lost and its events were archived',
    },
  },
];
