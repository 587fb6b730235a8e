import type { PlantEvent } from '../../src/domain';
import { setTimeout as delay } from 'node:timers/promises';
import type { AppendResult, EventStore, Head, ReadResult } from '../../src/event-sourcing';
import { created, deleted } from './given';

/**
 * A store whose every stream has a long history already, made up as it is read:
 * a plant that comes and goes, and in the end is there. Takes no appends.
 */
export class LongHistory implements EventStore<PlantEvent> {
  /** The versions behind which it was asked to read, in order. */
  readonly asked: number[] = [];

  /** @param length odd, so that the plant is there. */
  constructor(
    private readonly length: number,
    private readonly pageSize: number,
    private readonly pageMs = 0,
  ) {}

  async read(_: string, { version }: Head): Promise<ReadResult<PlantEvent>> {
    this.asked.push(version);
    if (this.pageMs > 0) await delay(this.pageMs);
    const size = Math.min(this.pageSize, this.length - version);
    const events = Array.from({ length: size }, (_, index) => {
      const at = version + 1 + index;
      return { version: at, commit: `commit-${at}`, event: at % 2 === 1 ? created(1, 'Fern') : deleted(1) };
    });
    return { status: 'read', events, more: version + size < this.length };
  }

  append(): Promise<AppendResult<PlantEvent>> {
    return Promise.reject(new Error('this history is written already'));
  }
}
