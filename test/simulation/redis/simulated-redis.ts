import type { PlantEvent } from '../../../src/domain';
import type { Clock } from '../../../src/event-sourcing';
import type { RedisModel } from '../redis-model';
import { Connection } from './connection';
import type { Line } from './pipe';
import { type RedisCommands, SCRIPT_NAMES } from './redis-commands';
import { ErrorReply, type RedisCommand, type Reply, encodeReply } from './resp';

export interface SimulatedRedisOptions {
  readonly clock: Clock;
  readonly model: RedisModel<PlantEvent>;
  readonly commands: RedisCommands<PlantEvent>;
  /** A client has sent bytes. */
  readonly sent: (connection: Connection) => void;
  readonly trace: (line: () => string) => void;
}

/** A command that blocks its connection until enough replicas have its writes. */
interface Waiter {
  readonly connection: Connection;
  readonly replicas: number;
  readonly expires: number;
}

/** The server closes a connection whose replies take more bytes, like `client-output-buffer-limit`. */
export const OUTPUT_BUFFER_BYTES = 64 * 1024;
/** Time to read, execute and answer a command. */
const MS_PER_BYTE = 2 ** -12;
export const FAST_MS_PER_COMMAND = 2 ** -4;
export const FAST_BYTES_PER_MS = 64 * 1024;
/** How long a restarted server loads its data. */
const LOADING_MS = 100;

/** A Redis server: one thread, which executes the commands of each connection in order. */
export class SimulatedRedis {
  readonly line: Line = { bytesPerMs: FAST_BYTES_PER_MS };
  msPerCommand = FAST_MS_PER_COMMAND;
  /** The instances that cannot reach it. */
  readonly partitioned = new Set<number>();
  /** In the order in which they were opened. */
  connections: Connection[] = [];
  #frozen = false;
  #stopped = false;
  /** The connection whose command was executed last. */
  #last = 0;
  #executing: { readonly connection: Connection; readonly command: RedisCommand; done: boolean } | undefined;
  #waiters: Waiter[] = [];

  constructor(private readonly options: SimulatedRedisOptions) {}

  get idle(): boolean {
    return this.#executing === undefined && this.connections.every(({ idle }) => idle);
  }

  connect(instance: number): Connection {
    const { clock, sent } = this.options;
    const connection = new Connection({
      ...{ clock, sent },
      line: this.line,
      instance,
      reachable: () => !this.partitioned.has(instance),
      refuses: () => this.#stopped,
      arrived: () => this.#executeNext(),
    });
    this.connections.push(connection);
    return connection;
  }

  freeze(frozen: boolean): void {
    this.#frozen = frozen;
    this.wake();
  }

  /** Goes on after a change. */
  wake(): void {
    for (const connection of this.connections) connection.wake();
    this.#answerWaiters();
    if (this.#executing?.done) this.#execute();
    this.#executeNext();
  }

  stop(stopped: boolean): void {
    if (this.#stopped === stopped) return;
    this.#stopped = stopped;
    this.restart();
  }

  /** Every connection breaks, and the server loads its data. */
  restart(): void {
    this.breakAll();
    const { clock, commands } = this.options;
    commands.flushScripts();
    commands.loading = true;
    clock.after(LOADING_MS, () => (commands.loading = false));
  }

  breakAll(): void {
    for (const connection of this.connections) connection.break();
    this.#forgetClosed();
  }

  /** The server becomes a replica, and keeps its connections. New ones lead to the new primary. */
  demote(): void {
    const { streams } = this.options.model;
    const lengths = new Map([...streams].map(([stream, history]) => [stream, history.length]));
    for (const connection of this.connections) connection.replicaOf ??= lengths;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const { connection } of waiters)
      this.#reply(connection, new ErrorReply('UNBLOCKED force unblock from blocking operation'));
    this.wake();
  }

  /** Executes the next command of the next connection that has one. */
  #executeNext(): void {
    this.#forgetClosed();
    if (this.#executing || this.#frozen) return;
    const count = this.connections.length;
    for (let turn = 1; turn <= count; turn++) {
      const index = (this.#last + turn) % count;
      const connection = this.connections[index]!;
      if (!connection.hasCommand) continue;
      this.#last = index;
      const executing = { connection, command: connection.takeCommand(), done: false };
      this.#executing = executing;
      const ms = this.msPerCommand + executing.command.bytes * MS_PER_BYTE;
      this.options.clock.after(ms, () => {
        executing.done = true;
        this.#execute();
      });
      return;
    }
  }

  #execute(): void {
    if (this.#frozen) return;
    const { connection, command } = this.#executing!;
    this.#executing = undefined;
    if (!connection.closed) {
      const [name, ...args] = command.args;
      if (name!.toLowerCase() === 'wait') this.#wait(connection, args);
      else this.#reply(connection, this.options.commands.execute(command.args, connection), command);
    }
    this.#executeNext();
  }

  #wait(connection: Connection, [replicas, ms]: readonly string[]): void {
    if (connection.replicaOf)
      return this.#reply(connection, new ErrorReply('ERR WAIT cannot be used with replica instances'));
    const { clock } = this.options;
    connection.blocked = true;
    this.#waiters.push({ connection, replicas: Number(replicas), expires: clock.now() + Number(ms) });
    clock.after(Number(ms), () => this.#answerWaiters());
    this.#answerWaiters();
  }

  #answerWaiters(): void {
    if (this.#frozen) return;
    const { clock, model } = this.options;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) {
      const { connection, replicas, expires } = waiter;
      if (connection.closed) continue;
      const count = model.wait(connection.lastWrite);
      if (count >= replicas || clock.now() >= expires) this.#reply(connection, count);
      else this.#waiters.push(waiter);
    }
  }

  #reply(connection: Connection, reply: Reply, command?: RedisCommand): void {
    connection.blocked = false;
    this.options.trace(() => describeReply(connection, command, reply));
    connection.reply(encodeReply(reply));
    if (connection.serverBytes > OUTPUT_BUFFER_BYTES) connection.break();
    this.#executeNext();
  }

  #forgetClosed(): void {
    for (const connection of this.connections) connection.closeIfEnded();
    // A partitioned client learns it later.
    this.connections = this.connections.filter(({ gone }) => !gone);
  }
}

function describeReply({ instance }: Connection, command: RedisCommand | undefined, reply: Reply): string {
  const [name = 'wait', ...args] = command?.args ?? [];
  // A script or its digest, the text of a snapshot, the id of its writer.
  const words = args.map(
    (arg) => SCRIPT_NAMES.get(arg) ?? (arg.length > 30 && !arg.includes('{') ? '…' : arg),
  );
  return `Redis to instance ${instance}: ${[name, ...words].join(' ')} -> ${describeValue(reply)}`;
}

function describeValue(reply: Reply): string {
  if (reply instanceof ErrorReply) return reply.message;
  if (Array.isArray(reply)) return String(reply[0]);
  if (typeof reply === 'string') return reply.split('\r', 1)[0]!;
  return typeof reply === 'number' ? String(reply) : 'answered';
}
