import { Cluster } from 'ioredis';
import type { RedisConnection } from './connection';
import { type Call, inOneExecution } from './many-calls';
import { executeScript } from './script';
import { READ } from './stream-scripts';

interface Read extends Call {
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Maximum number of reads of one command. */
const MAX_READS = 128;

/** Executes the read script: once for all reads of a turn of the event loop, but on a Cluster once for each. */
export class BatchedReads {
  #unsent: Read[] = [];

  constructor(private readonly connection: RedisConnection) {}

  /** Rejects with `StoreUnavailable` or an ioredis error. */
  execute(call: Call): Promise<unknown> {
    return new Promise((resolve, reject) => {
      // A spread must be last, see `recordedEvent`.
      if (this.#unsent.push({ resolve, reject, ...call }) === 1) process.nextTick(() => this.#sendAll());
    });
  }

  #sendAll(): void {
    const reads = this.#unsent;
    this.#unsent = [];
    while (reads.length > 0) void this.#send(reads.splice(0, MAX_READS));
  }

  async #send(reads: readonly Read[]): Promise<void> {
    try {
      const { client, proof } = this.connection;
      if (client instanceof Cluster && reads.length > 1) {
        for (const read of reads) void this.#send([read]);
        return;
      }
      const replies = await executeScript(client, READ, ...inOneExecution(reads, proof));
      reads.forEach(({ resolve, reject }, index) => {
        const reply = (replies as readonly unknown[])[index];
        if (reply instanceof Error) reject(reply);
        else resolve(reply);
      });
    } catch (error) {
      for (const read of reads) read.reject(error);
    }
  }
}
