import type { Clock } from '../../../../src/event-sourcing';
import type { RedisModel } from '../redis-model';
import { SimulatedConnection } from './connection';
import type { Line } from './pipe';
import type { ClusterNode } from './cluster-slots';
import { type RedisCommands, SCRIPT_NAMES } from './redis-commands';
import { ErrorReply, type RedisCommand, type Reply, encodeReply } from './resp';

export interface SimulatedRedisOptions {
  readonly clock: Clock;
  readonly model: RedisModel;
  readonly commands: RedisCommands;
  /** A client has sent bytes. */
  readonly sent: (connection: SimulatedConnection) => void;
  readonly trace: (line: () => string) => void;
}

/** A command that blocks its connection until its reply is `enough`, or until it expires. */
interface Waiter {
  readonly connection: SimulatedConnection;
  readonly command: RedisCommand;
  readonly reply: () => Reply;
  readonly enough: (reply: Reply) => boolean;
  readonly expires: number;
}

/** The server closes a connection whose replies take more bytes, like `client-output-buffer-limit`. */
const OUTPUT_BUFFER_BYTES = 64 * 1024;
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
  connections: SimulatedConnection[] = [];
  #frozen = false;
  #stopped = false;
  /** The connection whose command was executed last. */
  #last = 0;
  #executing:
    { readonly connection: SimulatedConnection; readonly command: RedisCommand; done: boolean } | undefined;
  #waiters: Waiter[] = [];

  constructor(private readonly options: SimulatedRedisOptions) {}

  get idle(): boolean {
    return this.#executing === undefined && this.connections.every(({ idle }) => idle);
  }

  connect(instance: number, node: ClusterNode): SimulatedConnection {
    const { clock, sent } = this.options;
    const connection = new SimulatedConnection({
      ...{ clock, sent },
      line: this.line,
      ...{ instance, node },
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
    for (const { connection, command } of waiters) {
      this.#reply(connection, new ErrorReply('UNBLOCKED force unblock from blocking operation'), command);
      connection.closeAfterReplies();
    }
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
      const execute = () => this.options.commands.execute(command.args, connection);
      if (name === 'wait') this.#wait(connection, command, args);
      else if (name === 'xread') {
        const ms = Number(args[args.indexOf('BLOCK') + 1]);
        this.#block(ms, { connection, command, reply: execute, enough: (reply) => reply !== null });
      } else {
        this.#reply(connection, execute(), command);
        this.#answerWaiters();
      }
    }
    this.#executeNext();
  }

  #wait(connection: SimulatedConnection, command: RedisCommand, [replicas, ms]: readonly string[]): void {
    if (connection.replicaOf)
      return this.#reply(
        connection,
        new ErrorReply('ERR WAIT cannot be used with replica instances'),
        command,
      );
    const { model } = this.options;
    this.#block(Number(ms), {
      ...{ connection, command },
      reply: () => model.wait(connection.lastWrite),
      enough: (count) => (count as number) >= Number(replicas),
    });
  }

  #block(ms: number, blocked: Omit<Waiter, 'expires'>): void {
    const { clock } = this.options;
    blocked.connection.blocked = true;
    this.#waiters.push({ ...blocked, expires: clock.now() + ms });
    clock.after(ms, () => this.#answerWaiters());
    this.#answerWaiters();
  }

  #answerWaiters(): void {
    if (this.#frozen || this.#waiters.length === 0) return;
    const { clock } = this.options;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) {
      const { connection, command, enough, expires } = waiter;
      if (connection.closed) continue;
      const reply = waiter.reply();
      if (enough(reply) || clock.now() >= expires) this.#reply(connection, reply, command);
      else this.#waiters.push(waiter);
    }
  }

  #reply(connection: SimulatedConnection, reply: Reply, command: RedisCommand): void {
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

function describeReply({ instance }: SimulatedConnection, command: RedisCommand, reply: Reply): string {
  const [name, ...args] = command.args;
  // A script or its digest, the text of a snapshot, the id of its writer, a commit with its attempt.
  const words = args.map(
    (arg) =>
      SCRIPT_NAMES.get(arg) ??
      ((arg.length > 30 && !arg.includes('{')) || /\.1[0-9a-z]{4}$/.test(arg) ? '…' : arg),
  );
  return `Redis to instance ${instance}: ${[name, ...words].join(' ')} -> ${describeValue(reply)}`;
}

function describeValue(reply: Reply): string {
  if (reply instanceof ErrorReply) return reply.message;
  if (reply === null) return 'nothing';
  if (Array.isArray(reply)) return String(reply[0]);
  if (typeof reply === 'string') return reply.split('\r', 1)[0]!;
  return typeof reply === 'number' ? String(reply) : 'answered';
}
