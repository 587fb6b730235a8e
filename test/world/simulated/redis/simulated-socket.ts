import { EventEmitter } from 'node:events';
import type { Connection } from './connection';

/** A client's socket of a simulated connection: what ioredis uses of a `net.Socket`. */
export class SimulatedSocket extends EventEmitter {
  connecting = true;
  writable = true;
  destroyed = false;
  #timeout: NodeJS.Timeout | undefined;

  constructor(private readonly connection: Connection) {
    super();
  }

  connected(): void {
    if (this.destroyed) return;
    this.connecting = false;
    this.emit('connect');
  }

  write(data: string | Buffer): boolean {
    if (this.writable) this.connection.send(typeof data === 'string' ? Buffer.from(data) : data);
    return true;
  }

  /** Closes the connection after all bytes are sent, and after Redis has closed its side. */
  end(): void {
    this.writable = false;
    if (this.connecting) this.destroy();
    else this.connection.end();
  }

  destroy(error?: Error): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.writable = false;
    this.setTimeout(0);
    this.connection.abandon();
    process.nextTick(() => {
      if (error) this.emit('error', error);
      this.emit('close', error !== undefined);
    });
  }

  /** Calls `expired` after this time. ioredis limits only the connecting by it. */
  setTimeout(ms: number, expired?: () => void): void {
    clearTimeout(this.#timeout);
    if (ms > 0) this.#timeout = setTimeout(() => expired?.(), ms);
  }

  setNoDelay(): void {}
  setKeepAlive(): void {}
  resume(): void {}
}
