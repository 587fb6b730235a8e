import type { AppendLoad } from '../../../../src/adapters/redis/append-writer';
import { APPEND } from '../../../../src/adapters/redis/scripts';
import { type ConnectingRedisEventStore, connectRedisEventStore } from '../../../../src/adapters/redis/open';
import type { EventStore, SnapshotStore, StreamArchive } from '../../../../src/event-sourcing';
import type { ManualClock } from '../../../support/manual-clock';
import type { RedisModel } from '../redis-model';
import { STREAMS } from '../users';
import type { AdapterSettings, Move } from '../schedule';
import { TIMEOUT_MS } from '../simulated-request';
import { ProcessClock, type SimulatedProcess } from '../simulated-process';
import { type StoreNetwork, toggle } from '../store-network';
import type { SimulatedConnection } from './connection';
import { ClusterSlots, PORT, hostOf, placeOf } from './cluster-slots';
import { RedisCommands } from './redis-commands';
import { SimulatedHost } from './simulated-host';
import { FAST_BYTES_PER_MS, FAST_MS_PER_COMMAND, SimulatedRedis } from './simulated-redis';

export interface RedisNetworkOptions extends AdapterSettings {
  readonly clock: ManualClock;
  readonly model: RedisModel;
  readonly replicas: number;
  readonly waitReplicas: number;
  readonly pageSize: number;
  readonly users: number;
  readonly trace: (line: () => string) => void;
}

/**
 * Commands that wait at a client for the network may take so many bytes for each user: a round, and the reads of
 * subscribers, each with the text of a script that Redis does not know yet.
 */
const CLIENT_BUFFER_BYTES = 3 * APPEND.text.length;
/** The adapter's timeout of a command. */
const COMMAND_MS = TIMEOUT_MS / 2;
/** A read is a second command if the server does not know the script. */
const READ_WITHIN_MS = 2 * COMMAND_MS;
/** Before each of the same two commands an append may wait for others. */
const APPEND_WITHIN_MS = 5 * COMMAND_MS;
/** ioredis waits so long for the server's end of a connection that it has closed. */
const DISCONNECT_MS = 250;

/** The instances behind the real Redis adapter, and a simulated Redis behind its sockets. */
export class RedisNetwork implements StoreNetwork {
  readonly problems = new Set<string>();
  /** The clock of the timers of the adapter. */
  readonly #timerClock: ProcessClock;
  readonly #host: SimulatedHost;
  readonly #slots = new ClusterSlots();
  readonly #commands: RedisCommands;
  readonly #redis: SimulatedRedis;
  /** By instance. */
  readonly #stores: ConnectingRedisEventStore[] = [];
  /** Calls of the living processes without an outcome. */
  readonly #calls = new Map<SimulatedProcess, number>();

  constructor(private readonly options: RedisNetworkOptions) {
    const { clock, model, replicas, trace, cluster } = options;
    const slots = cluster ? this.#slots : undefined;
    this.#commands = new RedisCommands({ model, clock, replicas, slots });
    this.#redis = new SimulatedRedis({
      clock,
      model,
      commands: this.#commands,
      trace,
      sent: (connection) => this.#checkConnection(connection),
    });
    this.#timerClock = new ProcessClock(clock, options.timerRate);
    this.#host = new SimulatedHost(this.#timerClock, (host) => {
      const { instance, node } = placeOf(host);
      return this.#redis.connect(instance, node).socket;
    });
    this.#host.install();
  }

  get recurringAlarms(): number {
    return this.#host.intervals;
  }

  get idle(): boolean {
    return this.#redis.idle;
  }

  open(instance: number, process: SimulatedProcess): { store: EventStore; snapshots: SnapshotStore } {
    const { pageSize, waitReplicas, appendBounds, cluster } = this.options;
    const nodes = ([0, 1] as const).map((node) => ({ host: hostOf(instance, node), port: PORT }));
    const opened = connectRedisEventStore({
      url: `redis://${hostOf(instance, 0)}:${PORT}`,
      clusterNodes: cluster ? nodes : undefined,
      timeoutMs: TIMEOUT_MS,
      pageSize,
      waitReplicas,
      appendBounds,
      report: (level, message) => this.options.trace(() => `instance ${instance}: ${level}: ${message}`),
    });
    this.#stores[instance] = opened;
    const { store, snapshots } = opened;
    const watched = <T>(name: string, call: Promise<T>, withinMs: number): Promise<T> => {
      const start = this.#timerClock.now();
      this.#count(process, 1);
      return call.finally(() => {
        this.#count(process, -1);
        const ms = this.#timerClock.now() - start;
        if (ms > withinMs) this.problems.add(`${name} took ${ms} ms, at most ${withinMs}`);
      });
    };
    return {
      store: {
        read: (...args) => watched('read', store.read(...args), READ_WITHIN_MS),
        append: (...args) => {
          const appended = watched('append', store.append(...args), APPEND_WITHIN_MS);
          this.#checkAppends(opened.status().appends);
          return appended;
        },
        notify: store.notify,
      },
      snapshots,
    };
  }

  archive(nth: number): StreamArchive {
    return this.#stores[nth % this.#stores.length]!.archive;
  }

  disconnect(instance: number, process: SimulatedProcess): void {
    this.#calls.delete(process);
    for (const connection of this.#redis.connections)
      if (connection.instance === instance) connection.socket.destroy();
    this.#stores[instance]!.close();
  }

  play(move: Move): void {
    const { connections, partitioned } = this.#redis;
    switch (move.type) {
      case 'break':
        connections[move.nth % connections.length]?.break();
        break;
      case 'silence':
        connections[move.nth % connections.length]?.silence();
        break;
      case 'stop':
        this.#redis.stop(move.on);
        break;
      case 'close':
        connections[move.nth % connections.length]?.socket.destroy();
        break;
      case 'setBandwidth':
        this.#redis.line.bytesPerMs = move.bytesPerMs;
        break;
      case 'slowDown':
        this.#redis.msPerCommand = move.msPerCommand;
        break;
      case 'migrate':
        this.#slots.migrate(STREAMS[move.user]!);
        break;
      case 'dropSlot':
        toggle(this.#slots.down, STREAMS[move.user]!, move.on);
        break;
      case 'partition':
        toggle(partitioned, move.nth % this.#stores.length, move.on);
        break;
      case 'flushScripts':
        this.#commands.flushScripts();
        break;
      case 'freeze':
        this.#redis.freeze(move.on);
        break;
      default:
    }
    this.#redis.wake();
  }

  failOver(keepsOld: boolean): void {
    if (keepsOld) this.#redis.demote();
    else this.#redis.breakAll();
  }

  restart(): void {
    this.#redis.restart();
  }

  endFaults(): void {
    this.#redis.partitioned.clear();
    this.#slots.down.clear();
    this.#redis.line.bytesPerMs = FAST_BYTES_PER_MS;
    this.#redis.msPerCommand = FAST_MS_PER_COMMAND;
    this.#redis.stop(false);
    this.#redis.freeze(false);
  }

  advance(): void {}

  executeAllLate(): void {}

  async close(): Promise<void> {
    if (!this.options.cluster) this.#checkConnections();
    for (const count of this.#calls.values())
      if (count > 0) this.problems.add(`${count} calls of the store have no outcome`);
    for (const [instance, store] of this.#stores.entries()) {
      const { appends, bytes } = store.status().appends;
      if (appends + bytes > 0) this.problems.add(`instance ${instance} holds ${appends} appends at the end`);
      store.close();
    }
    await this.options.clock.pass(DISCONNECT_MS / this.options.timerRate);
    if (this.options.clock.waiting > 0)
      this.problems.add(`${this.options.clock.waiting} timers are left over`);
    const { length } = this.#redis.connections.filter(({ gone }) => !gone);
    if (length > 0) this.problems.add(`${length} connections are left over`);
  }

  /** Without a subscriber, the connection for subscribers is closed. */
  #checkConnections(): void {
    const most = this.options.waitReplicas > 0 ? 2 : 1;
    for (const instance of this.#stores.keys()) {
      const open = this.#redis.connections.filter(
        (connection) => connection.instance === instance && !connection.socket.destroyed,
      );
      this.#checkBound(
        `connections of instance ${instance} are open without a subscriber`,
        open.length,
        most,
      );
    }
  }

  restore(): void {
    this.#host.restore();
  }

  #count(process: SimulatedProcess, change: 1 | -1): void {
    if (process.alive) this.#calls.set(process, (this.#calls.get(process) ?? 0) + change);
  }

  #checkConnection({ clientBytes, appends }: SimulatedConnection): void {
    this.#checkBound(
      'bytes of commands wait at a client',
      clientBytes,
      this.options.users * CLIENT_BUFFER_BYTES,
    );
    // On a Cluster, an append that timed out leaves the queue at once: the next one may be sent to another node.
    const bound = this.options.cluster ? Infinity : this.options.appendBounds.appends;
    this.#checkBound('appends of a connection are not executed', appends, bound);
  }

  #checkAppends({ appends, bytes }: AppendLoad): void {
    const { appendBounds } = this.options;
    this.#checkBound('appends have no reply', appends, appendBounds.appends);
    // A single append may exceed it.
    if (appends > 1) this.#checkBound('bytes of appends have no reply', bytes, appendBounds.bytes);
  }

  #checkBound(what: string, used: number, bound: number): void {
    if (used > bound) this.problems.add(`${used} ${what}, at most ${bound}`);
  }
}
