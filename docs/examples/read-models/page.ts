/** A page with the tags. It can be rebuilt from all events while it shows the earlier tags. */
import { type RequestListener } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import type { ProjectedStore } from 'plant-store/event-sourcing';
import { type Tags, projectTags } from './tags.js';

export class TagPage {
  #current: readonly [Tags, DatabaseSync];

  /** @param nextFile the database of the next version; after a restart, that of the newest one. */
  constructor(
    private readonly store: ProjectedStore,
    private readonly nextFile: () => string,
  ) {
    this.#current = this.#open();
  }

  get tags(): Tags {
    return this.#current[0];
  }

  #open(): readonly [Tags, DatabaseSync] {
    const database = new DatabaseSync(this.nextFile());
    return [projectTags(this.store, database), database];
  }

  /** Applies all events to a new database, and switches to it when it has them. */
  async rebuild(): Promise<void> {
    const next = this.#open();
    await next[0].projection.caughtUp();
    const closed = this.close();
    this.#current = next;
    await closed;
  }

  async close(): Promise<void> {
    const [{ projection }, database] = this.#current;
    await projection.close();
    database.close();
  }

  readonly answer: RequestListener = (request, response) => {
    if (request.url !== '/') return void response.writeHead(404).end();
    const rows = this.tags.count().map(({ tag, plants }) => `<tr><td>${escape(tag)}<td>${plants}`);
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="2">
<title>Tags</title><h1>Tags</h1><table><tr><th>Tag<th>Plants${rows.join('')}</table>`);
  };
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
