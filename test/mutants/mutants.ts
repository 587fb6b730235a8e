import { SIMULATED } from './simulated';

/** A fault that `npm run test:mutants` plants into a copy of the code, and what must find it there: at least one. */
export interface Mutant {
  /** What is wrong, as a sentence. */
  readonly fault: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly code: string;
  readonly replacement: string;
  /** The random schedules that find it: of the engine over the model of Redis, or behind the Redis adapter. */
  readonly simulation?: 'engine' | 'adapter';
  /** The test that fails with it. */
  readonly test?: {
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

/** By layer. */
export const MUTANTS: readonly Mutant[] = [
  ...SIMULATED,

  // The engine, of which the simulator finds no violation.
  {
    fault: 'each subscription has its own listener on a shared signal',
    file: 'src/event-sourcing/cancellation.ts',
    code: '    ACTIONS.set(signal, shared);\n',
    replacement: '',
    test: {
      file: 'test/event-sourcing/subscribe.unit.test.ts',
      title: 'cause no warning, end when it is aborted, and leave no listener',
    },
  },
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

  // A store that breaks the rules of the port.
  {
    fault: 'a page with `more` may have no event',
    file: 'src/event-sourcing/replay.ts',
    code: 'if (last !== undefined && last.version > head.version) return headOf(last);',
    replacement: 'return headOf(last ?? head);',
    test: {
      file: 'test/event-sourcing/aggregate.broken-store.unit.test.ts',
      title: 'fails a query as a bug, and is not read without end',
    },
  },
  {
    fault: 'a page may end elsewhere than it says',
    file: 'src/event-sourcing/history-loader.ts',
    code: 'if (this.target.head().version !== end!.version)',
    replacement: 'if (end === undefined)',
    test: {
      file: 'test/event-sourcing/aggregate.broken-store.unit.test.ts',
      title: 'fails a query as a bug, and is not read without end',
    },
  },
  {
    fault: 'a store that loses every history is called without a pause',
    file: 'src/event-sourcing/aggregate.ts',
    code: 'if (losses > 0) await this.#calls.pauseAfter(losses);',
    replacement: '',
    test: {
      file: 'test/event-sourcing/aggregate.broken-store.unit.test.ts',
      title: 'is called with pauses, until the deadline of the request',
    },
  },
  {
    fault: 'a long history of a store without input and output leaves no time for timers',
    file: 'src/event-sourcing/history-loader.ts',
    code: '      await this.queue.pauseIfDue();\n',
    replacement: '',
    test: {
      file: 'test/event-sourcing/aggregate.broken-store.unit.test.ts',
      title: 'lets timers run while a long history is loaded',
    },
  },

  // The log.
  {
    fault: 'the number of dropped log lines is logged again and again',
    file: 'src/service/log-destination.ts',
    code: 'if (this.#dropped === this.#droppedKnown) return;',
    replacement: 'if (this.#dropped === 0) return;',
    test: {
      file: 'test/service/log-destination.unit.test.ts',
      title: 'calls `recovered` once for each loss',
    },
  },
  {
    fault: 'a terminal is written to with a descriptor that blocks',
    file: 'src/service/log-destination.ts',
    code: 'if (!isatty(fd)) return fd;',
    replacement: 'if (fd === 1 || !isatty(fd)) return fd;',
    test: {
      file: 'test/service/log-terminal.processes.http.test.ts',
      title: 'lets SIGTERM end the service with 0 when Ctrl-S pauses the terminal',
    },
  },

  // The start and the end of the service.
  {
    fault: 'a state that is too large is not counted in the metrics',
    file: 'src/service/observers.ts',
    code: 'all.forEach((each) => each.tooLarge?.(...args))',
    replacement: 'all.slice(1).forEach((each) => each.tooLarge?.(...args))',
    test: {
      file: 'test/service/observers.unit.test.ts',
      title: 'are each notified by tooLarge',
    },
  },
  {
    fault: 'a service that cannot listen goes on polling its token file',
    file: 'src/service/bootstrap.ts',
    code: '      identity.close();\n      await closeStore();\n      throw error;',
    replacement: '      await closeStore();\n      throw error;',
    test: {
      file: 'test/service/failed-start.http.test.ts',
      title: 'because PORT is taken reads its token file no more',
    },
  },
  {
    fault: 'a service that cannot open its store goes on polling its token file',
    file: 'src/service/bootstrap.ts',
    code: '        identity.close();\n        throw error;',
    replacement: '        throw error;',
    test: {
      file: 'test/service/failed-start.http.test.ts',
      title: 'because the module of EVENT_STORE is missing reads its token file no more',
    },
  },
  {
    fault: 'a service whose PORT is taken goes on listening on ADMIN_PORT, and ignores SIGTERM',
    file: 'src/service/servers.ts',
    code: '    await admin.close(AT_ONCE);\n',
    replacement: '',
    test: {
      file: 'test/service/failed-start.http.test.ts',
      title: 'does not listen on ADMIN_PORT',
    },
  },
  {
    fault: 'a closed store keeps the process alive until its time limit',
    file: 'src/service/events.ts',
    code: '  clearTimeout(alive);\n',
    replacement: '  void alive;\n',
    test: {
      file: 'test/service/close-events.unit.test.ts',
      title: 'does not keep the process alive any longer than the store needs',
    },
  },

  // Bodies that are being received.
  {
    fault: 'the bodies that are being received are not bounded',
    file: 'src/adapters/http/app/received-bodies.ts',
    code: 'while (this.#bytes > this.maxBytes) this.#endOne();',
    replacement: '',
    test: {
      file: 'test/adapters/http/edge/received-bodies.http.test.ts',
      title: 'take bounded memory',
    },
  },
  {
    fault: 'the first body of the user with the fewest bytes is refused',
    file: 'src/adapters/http/app/received-bodies.ts',
    code: 'if (bytes > most) [',
    replacement: 'if (most < 0 || bytes < most) [',
    test: {
      file: 'test/adapters/http/edge/received-bodies.http.test.ts',
      title: 'take bounded memory',
    },
  },
  {
    fault: 'a piece of a body takes only its own bytes',
    file: 'src/adapters/http/app/received-bodies.ts',
    code: 'const PIECE_BYTES = 512;',
    replacement: 'const PIECE_BYTES = 0;',
    test: {
      file: 'test/adapters/http/edge/received-bodies.http.test.ts',
      title: 'are bounded although each is sent byte by byte',
    },
  },
  {
    fault: 'the bodies of queued requests are not bounded',
    file: 'src/adapters/http/server/connection.ts',
    code: 'return size >= MAX_QUEUED || bytes >= MAX_QUEUED_BYTES;',
    replacement: 'return size >= MAX_QUEUED || bytes < 0;',
    test: {
      file: 'test/adapters/http/edge/received-bodies.http.test.ts',
      title: 'are bounded also while they wait for an earlier response',
    },
  },

  // The admin port.
  {
    fault: 'idle connections refuse the probes of the admin port',
    file: 'src/service/servers.ts',
    code: "whenFull: 'close-oldest',",
    replacement: '',
    test: {
      file: 'test/adapters/http/admin-port.http.test.ts',
      title: 'answers although its 32 connections are taken, the oldest of which it closes',
    },
  },
  {
    fault: 'the newest connection is closed for another one',
    file: 'src/adapters/http/server/connections.ts',
    code: 'open.find(([, { idle }]) => idle)',
    replacement: 'open.findLast(([, { idle }]) => idle)',
    test: {
      file: 'test/adapters/http/admin-port.http.test.ts',
      title: 'answers although its 32 connections are taken, the oldest of which it closes',
    },
  },

  // The edge.
  {
    fault: 'RTSP is taken for HTTP',
    file: 'src/adapters/http/server/connection.ts',
    code: 'OTHER_PROTOCOL.test(bytes)',
    replacement: 'bytes === OTHER_PROTOCOL.source',
    test: {
      file: 'test/adapters/http/edge/malformed.http.test.ts',
      title: 'RTSP/1.0',
    },
  },

  // Tokens.
  {
    fault: 'a member that the token file has twice counts once',
    file: 'src/adapters/auth/token-file-format.ts',
    code: '  requireUniqueMembers(text);\n',
    replacement: '',
    test: {
      file: 'test/adapters/auth/token-file-format.unit.test.ts',
      title: 'is invalid if it has the tokens of a user twice',
    },
  },
  {
    fault: 'a remembered token keeps its header field in memory',
    file: 'src/adapters/auth/token-table.ts',
    code: 'Buffer.from(token).toString()',
    replacement: 'token',
    test: {
      file: 'test/adapters/auth/token-table.unit.test.ts',
      title: 'keeps nothing of the header field',
    },
  },
  {
    fault: 'a token file that is closed during a poll is polled for ever',
    file: 'src/adapters/auth/token-file.ts',
    code: '    if (this.#closed) return;\n',
    replacement: '',
    test: {
      file: 'test/adapters/auth/token-file.disk.test.ts',
      title: 'is polled no more if it is closed during a poll',
    },
  },

  // A planted snapshot.
  {
    fault: 'a chunk of a snapshot may be of any length',
    file: 'src/adapters/redis/snapshot-store.ts',
    code: '#values[i] > tonumber(ARGV[1])',
    replacement: '#values[i] > 2 ^ 40',
    test: {
      file: 'test/adapters/redis/snapshot-store.redis.test.ts',
      title: 'without its chunk in the memory of the process',
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
    code: "if known ~= base then return {doubt(replicas, lag, id) or 'reset'} end",
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
    fault: 'a read does not compare the id of the store',
    file: 'src/adapters/redis/scripts.ts',
    code: "  if isAnotherStore(id) then return 'identity' end\n",
    replacement: '',
    test: {
      file: 'test/adapters/redis/store-identity.redis.test.ts',
      title: 'refuses a list of another user',
    },
  },
  {
    fault: 'an append does not compare the id of the store',
    file: 'src/adapters/redis/scripts.ts',
    code: 'if isAnotherStore(id) then return {doubt(replicas, lag, id)} end\n',
    replacement: '',
    test: {
      file: 'test/adapters/redis/store-identity.redis.test.ts',
      title: 'refuses a write of another user',
    },
  },
  {
    fault: 'an examination adopts each id of a store',
    file: 'src/adapters/redis/connection.ts',
    code: 'if (isKnown) return identity.judge(id);',
    replacement: '',
    test: {
      file: 'test/adapters/redis/store-identity.redis.test.ts',
      title: 'is another one at the same address refuses it',
    },
  },
  {
    fault: 'an instance that loses the creation of an id does not read the other one',
    file: 'src/adapters/redis/store-identity.ts',
    code: 'if (other !== undefined && other !== created) this.#see(other);',
    replacement: '',
    test: {
      file: 'test/adapters/redis/store-identity.redis.test.ts',
      title: 'is created once by instances that start at the same time',
    },
  },
  {
    fault: 'an id that too few replicas have is used',
    file: 'src/adapters/redis/store-identity.ts',
    code: 'if (Number(replicaCount) >= waitReplicas) this.#see(id);\n    else this.#unconfirmed = id;',
    replacement: 'this.#see(id);',
    test: {
      file: 'test/adapters/redis/store-identity.redis.test.ts',
      title: 'does not count before the replica has it',
    },
  },
  {
    fault: 'a created id is not logged',
    file: 'src/adapters/redis/store-identity.ts',
    code: "if (created === undefined) this.report('warn', createdText(id, keys));",
    replacement: '',
    test: {
      file: 'test/adapters/redis/store-identity.redis.test.ts',
      title: 'was emptied uses it as a new store once it is restarted',
    },
  },
  {
    fault: 'a primary needs no replica to be current',
    file: 'src/adapters/redis/server-checks.ts',
    code: 'return replicas! > 0 && lag! > 0 ? [replicas!, lag! + 1] : NO_LEASE;',
    replacement: 'return NO_LEASE;',
    test: {
      file: 'test/adapters/redis/faults/replicas.fault.test.ts',
      title: 'are refused once the replica has not confirmed',
    },
  },
  {
    fault: 'a replica that confirmed long ago keeps a primary current',
    file: 'src/adapters/redis/scripts.ts',
    code: 'if tonumber(behind) <= lag then',
    replacement: 'if behind then',
    test: {
      file: 'test/adapters/redis/faults/replicas.fault.test.ts',
      title: 'are refused once the replica has not confirmed',
    },
  },
  {
    fault: "any server's conflict is believed",
    file: 'src/adapters/redis/scripts.ts',
    code: "    if why then return {why} end\n    return {'conflict'",
    replacement: "    return {'conflict'",
    test: {
      file: 'test/adapters/redis/faults/replicas.fault.test.ts',
      title: 'are refused as well as the conflict',
    },
  },
  {
    fault: 'readiness does not ask whether the server is current',
    file: 'src/adapters/redis/connection.ts',
    code: 'if (doubt !== undefined) throw this.doubted(doubt);',
    replacement: '',
    test: {
      file: 'test/adapters/redis/faults/replicas.fault.test.ts',
      title: 'are refused once the replica has not confirmed',
    },
  },
  {
    fault: 'a lag as long as the time until a failover is accepted',
    file: 'src/adapters/redis/server-checks.ts',
    code: '(lag + 1) * 1000 > takesOverMs',
    replacement: 'lag * 1000 > takesOverMs',
    test: {
      file: 'test/adapters/redis/server-checks.unit.test.ts',
      title: 'because a replica takes over after less than two seconds more than the lag',
    },
  },
  {
    fault: 'the Sentinels are awaited one after the other',
    file: 'src/adapters/redis/sentinels.ts',
    code: 'await Promise.race([settled, delay(OTHERS_MS, undefined, { ref: false })]);',
    replacement: 'await settled;',
    test: {
      file: 'test/adapters/redis/failover-watch.unit.test.ts',
      title: 'name it in time while others are frozen or gone',
    },
  },
  {
    fault: 'the first Sentinel that answers is believed',
    file: 'src/adapters/redis/sentinels.ts',
    code: 'other.epoch > one.epoch ? other : one',
    replacement: 'one',
    test: {
      file: 'test/adapters/redis/failover-watch.unit.test.ts',
      title: 'name the primary of the newest configuration',
    },
  },
  {
    fault: 'a failover is never given up',
    file: 'src/adapters/redis/failover-watch.ts',
    code: 'setTimeout(() => this.#end(), this.longestMs).unref()',
    replacement: 'setTimeout(() => {}, this.longestMs).unref()',
    test: {
      file: 'test/adapters/redis/failover-watch.unit.test.ts',
      title: 'gives up a failover of which it hears nothing more',
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
    fault: 'any file beside an export counts as its draft',
    file: 'src/adapters/cli/output-file.ts',
    code: 'name.startsWith(target) && DRAFT_SUFFIX.test(name.slice(target.length))',
    replacement: 'name.startsWith(target)',
    test: {
      file: 'test/adapters/cli/output-file.unit.test.ts',
      title: 'has the drafts of killed commands reported by path and time, and left as they are',
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
    fault: 'a response that was read is never taken off the memory of responses',
    file: 'src/adapters/http/lists/response-memory.ts',
    code: 'this.#add(account, -bytes);',
    replacement: '',
    test: {
      file: 'test/adapters/http/lists/response-memory.unit.test.ts',
      title: 'counts a response until it leaves, once',
    },
  },
  {
    fault: 'what responses share is counted once for each',
    file: 'src/adapters/http/lists/response-memory.ts',
    code: 'if (shared !== undefined) {\n      shared.holders++;',
    replacement:
      'if (shared !== undefined) {\n      this.#add(account, shared.bytes);\n      shared.holders++;',
    test: {
      file: 'test/adapters/http/lists/response-memory.unit.test.ts',
      title: 'counts what responses of one user share once',
    },
  },
  {
    fault: 'the user with the fewest bytes loses a response',
    file: 'src/adapters/http/lists/response-memory.ts',
    code: 'other[1].bytes > most[1].bytes',
    replacement: 'other[1].bytes < most[1].bytes',
    test: {
      file: 'test/adapters/http/lists/response-memory.unit.test.ts',
      title: 'beyond the bound abandons the oldest response of the user with the most bytes',
    },
  },
  {
    fault: 'the segments of a list without readers stay in memory',
    file: 'src/adapters/http/lists/long-lists.ts',
    code: 'lists.memory.release(user, segment);',
    replacement: ';',
    test: {
      file: 'test/adapters/http/lists/long-lists.unit.test.ts',
      title: 'leave no work and no memory if their readers disconnect',
    },
  },
  {
    fault: 'the measurement of a list without readers continues',
    file: 'src/adapters/http/lists/long-lists.ts',
    code: '    this.#stopMeasuring();\n',
    replacement: '',
    test: {
      file: 'test/adapters/http/lists/long-lists.unit.test.ts',
      title: 'leave no work and no memory if their readers disconnect',
    },
  },
  {
    fault: 'readers of one list do not share its pieces',
    file: 'src/adapters/http/lists/long-lists.ts',
    code: 'if (this.#pieces?.length === number) this.#pieces.push(piece);',
    replacement: '',
    test: {
      file: 'test/adapters/http/lists/long-lists.unit.test.ts',
      title: 'which share their pieces',
    },
  },
  {
    fault: 'a long list is measured without a deadline',
    file: 'src/adapters/http/lists/long-lists.ts',
    code: "timer = setTimeout(() => reject(new Overloaded('the list was not measured in time')), timeoutMs);",
    replacement: '',
    test: {
      file: 'test/adapters/http/lists/long-lists.unit.test.ts',
      title: 'are refused if they are not measured in time',
    },
  },
  {
    fault: 'a document that could not be loaded is never loaded again',
    file: 'src/adapters/http/app/response.ts',
    code: '      loading = undefined;\n',
    replacement: '',
    test: {
      file: 'test/adapters/http/docs.http.test.ts',
      title: 'is loaded again by the next request if it could not be loaded',
    },
  },
  {
    fault: 'If-None-Match is compared as a substring',
    file: 'src/adapters/http/app/response.ts',
    code: 'listed?.includes(etag) === true',
    replacement: 'condition.includes(etag)',
    test: {
      file: 'test/adapters/http/contract/memory.http.test.ts',
      title: 'an entity tag that contains the current one',
    },
  },
  {
    fault: 'a client that reads slowly is never disconnected',
    file: 'src/adapters/http/server/connection.ts',
    code: 'if (!taken) this.#expectRead();',
    replacement: '',
    test: {
      file: 'test/adapters/http/edge/slow-clients.load.http.test.ts',
      title: 'are disconnected if they read their response too slowly, although they never stop',
    },
  },
  {
    fault: 'a client that accepts no gzip gets it',
    file: 'src/adapters/http/app/response.ts',
    code: "ctx.acceptsEncodings('gzip', 'identity') === 'gzip'",
    replacement: "ctx.get('Accept-Encoding').includes('gzip')",
    test: {
      file: 'test/adapters/http/docs.http.test.ts',
      title: 'is not compressed for Accept-Encoding: gzip;q=0',
    },
  },
  {
    fault: 'the allowance of the documentation is taken by responses without a body',
    file: 'src/adapters/http/app/response.ts',
    code: "if (ctx.method !== 'HEAD' && !isKnown(ctx, etag)) allowance.take",
    replacement: 'allowance.take',
    test: {
      file: 'test/adapters/http/docs.http.test.ts',
      title: 'answers 503 beyond 48 MiB a minute',
    },
  },
  {
    fault: 'a slow reader is disconnected without a reset',
    file: 'src/adapters/http/server/connection.ts',
    code: 'this.socket?.resetAndDestroy();',
    replacement: '',
    test: {
      file: 'test/adapters/http/edge/slow-clients.load.http.test.ts',
      title: 'are disconnected if they do not read their response for too long',
    },
  },
  {
    fault: 'HEAD ignores If-None-Match',
    file: 'src/adapters/http/app/response.ts',
    code: 'if (!isKnown(ctx, etag)) return false;',
    replacement: "if (!isKnown(ctx, etag) || ctx.method === 'HEAD') return false;",
    test: {
      file: 'test/world/model/model.http.test.ts',
      title: 'answers any requests as the model of the specification',
    },
  },
  {
    fault: 'the user of all requests of a connection is that of the first one',
    file: 'src/adapters/http/app/users.ts',
    code: 'ctx.state.user = user;',
    replacement: 'ctx.state.user = (ctx.req.socket as { user?: User }).user ??= user;',
    test: {
      file: 'test/world/model/model.http.test.ts',
      title: 'answers any requests as the model of the specification',
    },
  },
  {
    fault: 'a cached text of a list keeps the pool of which it is a slice',
    file: 'src/adapters/http/lists/list-text.ts',
    code: 'return exactBuffer(`[${',
    replacement: 'return Buffer.from(`[${',
    test: { file: 'test/adapters/http/lists/lists.unit.test.ts', title: 'is not a slice of a larger Buffer' },
  },
  {
    fault: 'a page of a list is cached across writes',
    file: 'src/adapters/http/lists/lists.ts',
    code: 'if (cached !== undefined && isSameHead(cached.head, head)) return cached;',
    replacement: 'if (cached !== undefined) return cached;',
    test: {
      file: 'test/adapters/http/lists/lists.unit.test.ts',
      title: 'is the same Buffer while nothing is written',
    },
  },
  {
    fault: 'a page of a list is cached across histories of the same length',
    file: 'src/event-sourcing/event-store.ts',
    code: 'return one.version === other.version && one.commit === other.commit;',
    replacement: 'return one.version === other.version;',
    test: {
      file: 'test/adapters/http/lists/lists.unit.test.ts',
      title: 'another history of the same length',
    },
  },
  {
    fault: 'a slow reader leaves the limit of requests of its user',
    file: 'src/adapters/http/app/users.ts',
    code: 'whenClosed(ctx.res, () => admission.leave(user));',
    replacement: 'admission.leave(user);',
    test: {
      file: 'test/adapters/http/edge/user-requests.http.test.ts',
      title: 'count until their response was read',
    },
  },
  {
    fault: 'the number of long lists of a user stays when it is zero',
    file: 'src/adapters/http/lists/long-lists.ts',
    code: '    if (others > 0) this.#sent.set(user, others);\n    else this.#sent.delete(user);',
    replacement: '    this.#sent.set(user, others);',
    test: {
      file: 'test/adapters/http/lists/long-lists.unit.test.ts',
      title: 'leave nothing of users whose readers disconnect',
    },
  },
  {
    fault: 'the measurement of a list that has ended stays in memory',
    file: 'src/adapters/http/lists/long-lists.ts',
    code: 'if (this.#measuring.get(user) === done) this.#measuring.delete(user);',
    replacement: '',
    test: {
      file: 'test/adapters/http/lists/long-lists.unit.test.ts',
      title: 'leave nothing of users whose readers disconnect',
    },
  },
  {
    fault: 'a reader whose connection was closed stays in memory',
    file: 'src/adapters/http/lists/long-lists.ts',
    code: '    whenClosed(response, () => reader.close());\n',
    replacement: '',
    test: {
      file: 'test/adapters/http/lists/long-lists.unit.test.ts',
      title: 'leave no work and no memory if their readers disconnect',
    },
  },
  {
    fault: 'a short text that was read is never taken off the memory of responses',
    file: 'src/adapters/http/lists/lists.ts',
    code: '    whenClosed(response, () => this.#memory.leave(user, held));\n',
    replacement: '',
    test: {
      file: 'test/adapters/http/lists/lists.unit.test.ts',
      title: 'is counted while it is being sent',
    },
  },
  {
    fault: 'the empty account of responses of a user stays in memory',
    file: 'src/adapters/http/lists/response-memory.ts',
    code: 'if (responses.size === 0 && shared.size === 0) this.#accounts.delete(user);',
    replacement: 'void [user, responses, shared];',
    test: {
      file: 'test/adapters/http/lists/response-memory.unit.test.ts',
      title: 'keeps nothing of a user whose responses were read',
    },
  },
  {
    fault: 'the empty account of bodies of a user stays in memory',
    file: 'src/adapters/http/app/received-bodies.ts',
    code: '    if (bodies.size === 0) this.#users.delete(body.user);\n',
    replacement: '',
    test: {
      file: 'test/adapters/http/app/received-bodies.unit.test.ts',
      title: 'keeps nothing of a user whose bodies were received',
    },
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
    fault: 'a stream whose events were deleted beside its base is read as an empty one',
    file: 'src/adapters/redis/scripts.ts',
    code: "if version == '0' and hasLostBase(stream, KEYS[2]) then return {'unreadable'} end",
    replacement: '',
    test: {
      file: 'test/adapters/redis/unreadable-history.redis.test.ts',
      title: 'no events beside the base snapshot, whose head an instance knows',
    },
  },
  {
    fault: 'an append begins another history beside a base',
    file: 'src/adapters/redis/scripts.ts',
    code: "if version == '0' and hasLostBase(stream, KEYS[2]) then\n",
    replacement: 'if false then\n',
    test: {
      file: 'test/adapters/redis/event-store.redis.test.ts',
      title: 'without the event of its base it is unreadable, and neither empty nor written to',
    },
  },
  {
    fault: 'another history that is longer than the base is served',
    file: 'src/adapters/redis/scripts.ts',
    code: 'return not entry or entry[2][6] ~= head[2]',
    replacement: 'return not entry',
    test: {
      file: 'test/adapters/redis/stream-archive.redis.test.ts',
      title: 'because a longer history began',
    },
  },
  {
    fault: 'a Redis user without the rights for archives can append to no new stream',
    file: 'src/adapters/redis/scripts.ts',
    code: "redis.pcall('HMGET', base, 'version', 'commit')",
    replacement: "redis.call('HMGET', base, 'version', 'commit')",
    test: {
      file: 'test/adapters/redis/faults/least-privilege.fault.test.ts',
      title: 'loses no request without the rights for snapshots',
    },
  },
  {
    fault: 'a base that may not be read counts as none',
    file: 'src/adapters/redis/scripts.ts',
    code: "if not redis.pcall('XRANGE', base, '-', '+', 'COUNT', 1).err then return false end",
    replacement: 'if head.err then return false end',
    test: {
      file: 'test/adapters/redis/faults/least-privilege.fault.test.ts',
      title: 'refuses only the users who have a base',
    },
  },
  {
    fault: 'a base whose stream is missing is not reported',
    file: 'src/adapters/redis/stream-catalogue.ts',
    code: "if ((await client.hmget(base, 'version'))[0] === null) return undefined;",
    replacement: 'if (base) return undefined;',
    test: {
      file: 'test/adapters/redis/stream-archive.redis.test.ts',
      title: 'is reported by the catalogue while its key is missing',
    },
  },
  {
    fault: 'a base whose stream is missing is erased without a confirmation',
    file: 'src/adapters/cli/events-erase.ts',
    code: '(archived && `the base snapshot of version ${archived.head.version}, and no events`);',
    replacement: 'undefined;',
    test: {
      file: 'test/adapters/cli/erase.unit.test.ts',
      title: 'describes a base snapshot whose stream is missing',
    },
  },
];
