import type { PlantEvent } from '../../src/domain';
import { setTimeout as delay } from 'node:timers/promises';
import type { AppendResult, EventStore, Head, ReadResult } from '../../src/event-sourcing';
import { created, deleted } from './given';

/**
 * A store in which every stream has a long history, generated as it is read:
 * one plant is created and deleted again and again, and exists at the end. Refuses appends.
 */
export class LongHistory implements EventStore<PlantEvent> {
  /** The versions after which pages were read, in order. */
  readonly asked: number[] = [];

  /** @param length odd, so that the plant exists at the end. */
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
