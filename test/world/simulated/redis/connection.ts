import { APPEND } from '../../../../src/adapters/redis/scripts';
import type { Clock } from '../../../../src/event-sourcing';
import { type Line, Pipe, TICK_MS } from './pipe';
import type { ClusterNode } from './cluster-slots';
import type { Session } from './redis-commands';
import { CommandDecoder, type RedisCommand } from './resp';
import { SimulatedSocket } from './simulated-socket';

/** While more bytes of commands wait for their execution, the server takes none; the rest waits at the client. */
const RECEIVE_BUFFER_BYTES = 4096;

export interface ConnectionOptions {
  readonly clock: Clock;
  readonly line: Line;
  readonly instance: number;
  readonly node: ClusterNode;
  /** Whether bytes flow between the instance and the server. */
  readonly reachable: () => boolean;
  /** The client has sent bytes. */
  readonly sent: (connection: SimulatedConnection) => void;
  /** Whether the server accepts no connection. */
  readonly refuses: () => boolean;
  /** Commands or the end of the connection have arrived at the server. */
  readonly arrived: () => void;
}

/** What a command has that appends: the script, or its digest. */
const APPEND_NAMES = [APPEND.sha1, APPEND.text];

/** A connection of an instance to the simulated Redis: a pipe in each direction, and the commands that have arrived. */
export class SimulatedConnection implements Session {
  readonly socket = new SimulatedSocket(this);
  replicaOf?: ReadonlyMap<string, number>;
  lastWrite = 0;
  asking = false;
  /** Whether a command of it blocks the following ones. */
  blocked = false;
  /** Number of appends that the client has sent and the server has not executed. */
  appends = 0;
  /** Whether the server has closed it. */
  closed = false;
  readonly #commands: RedisCommand[] = [];
  #receivedBytes = 0;
  readonly #decoder = new CommandDecoder();
  readonly #requests: Pipe;
  readonly #replies: Pipe;
  #cancelOpening: (() => void) | undefined;
  #opened = false;
  #silent = false;
  /** Whether the client sends nothing any more. */
  #ended = false;

  constructor(private readonly options: ConnectionOptions) {
    const { clock, line, reachable } = options;
    this.#requests = new Pipe(
      clock,
      line,
      () => reachable() && this.#receivedBytes < RECEIVE_BUFFER_BYTES,
      (chunk) => this.#receive(chunk),
    );
    this.#replies = new Pipe(clock, line, reachable, (chunk) => this.socket.emit('data', chunk));
    this.wake();
  }

  get instance(): number {
    return this.options.instance;
  }

  get node(): ClusterNode {
    return this.options.node;
  }

  /** Whether both sides have closed it. */
  get gone(): boolean {
    return this.closed && this.socket.destroyed;
  }

  /** Bytes of commands that wait at the client. */
  get clientBytes(): number {
    return this.#requests.bytes;
  }

  /** Bytes of replies that wait at the server. */
  get serverBytes(): number {
    return this.#replies.bytes;
  }

  /** Whether the server can execute a command of it. */
  get hasCommand(): boolean {
    return !this.closed && !this.blocked && this.#commands.length > 0;
  }

  get idle(): boolean {
    return (
      this.#requests.idle &&
      this.#replies.idle &&
      this.#commands.length === 0 &&
      !this.blocked &&
      this.#opened
    );
  }

  /** Goes on after an end of a fault. */
  wake(): void {
    if (this.#silent || !this.options.reachable()) return;
    if (this.closed) return this.socket.destroy();
    if (!this.#opened)
      this.#cancelOpening ??= this.options.clock.after(TICK_MS, () => {
        this.#opened = true;
        this.closed = this.options.refuses();
        if (this.closed) this.socket.destroy(new Error('connect ECONNREFUSED'));
        else this.socket.connected();
      });
    this.#requests.wake();
    this.#replies.wake();
  }

  send(chunk: Buffer): void {
    if (isAppend(chunk)) this.appends++;
    this.#requests.send(chunk);
    this.options.sent(this);
  }

  /** The client sends nothing any more. What it has sent still arrives. */
  end(): void {
    this.#requests.end(() => {
      this.#ended = true;
      this.options.arrived();
    });
  }

  /** The client is gone, and the server's replies are lost. */
  abandon(): void {
    this.#cancelOpening?.();
    this.#replies.close();
    if (this.#opened) this.end();
    else this.closed = true;
  }

  /** The first command that was not executed. */
  takeCommand(): RedisCommand {
    const command = this.#commands.shift()!;
    this.#receivedBytes -= command.bytes;
    if (command.args.some((arg) => APPEND_NAMES.includes(arg))) this.appends--;
    this.#requests.wake();
    return command;
  }

  reply(chunk: Buffer): void {
    this.#replies.send(chunk);
  }

  /** The server closes its side after its replies, although the client has not ended. */
  closeAfterReplies(): void {
    this.closed = true;
    this.#replies.end(() => this.socket.destroy());
  }

  /** The server closes its side once everything is answered, if the client has ended. */
  closeIfEnded(): void {
    if (this.#ended && !this.blocked && this.#commands.length === 0) this.closeAfterReplies();
  }

  /** The connection breaks: all bytes under way are lost, in both directions. */
  break(): void {
    this.#discard();
    this.wake();
  }

  /** All bytes under way and all later ones are lost, and neither side learns it. Only of an open connection. */
  silence(): void {
    if (!this.#opened) return;
    this.#silent = true;
    this.#discard();
  }

  #discard(): void {
    this.closed = true;
    this.blocked = false;
    this.#cancelOpening?.();
    this.#commands.splice(0);
    this.#requests.close();
    this.#replies.close();
  }

  #receive(chunk: Buffer): void {
    for (const command of this.#decoder.write(chunk)) {
      this.#commands.push(command);
      this.#receivedBytes += command.bytes;
    }
    this.options.arrived();
  }
}

function isAppend(chunk: Buffer): boolean {
  return APPEND_NAMES.some((name) => chunk.includes(name));
}
