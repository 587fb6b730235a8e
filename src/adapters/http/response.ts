/** Sets responses on the context, and bounds the memory of long ones. */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { whenClosed } from './connection';
import type { Context } from './koa';

/** @param body JSON, in well-formed Unicode. */
export function json(ctx: Context, body: string | Buffer): void {
  // Not `ctx.type`, which adds a charset: application/json has none (RFC 8259, 11).
  ctx.set('Content-Type', 'application/json');
  ctx.body = body;
}

/** Adds to `Vary`, which middleware in front may have set. */
export function vary(ctx: Context, field: string): void {
  if (ctx.res.hasHeader('Vary')) ctx.vary(field);
  else ctx.set('Vary', field);
}

/** A leaf, so that no browser requests a favicon.ico. */
export const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ctext y='13' font-size='13'%3E%F0%9F%8C%BF%3C/text%3E%3C/svg%3E";

/**
 * A page that loads nothing from another origin.
 * @param allowed what the page needs nevertheless, as directives of a Content-Security-Policy.
 */
export function page(ctx: Context, html: string, allowed: readonly string[]): void {
  const policy = [
    "default-src 'none'",
    "img-src 'self' data:",
    ...allowed,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  ctx.set('Content-Security-Policy', policy.join('; '));
  ctx.set('Content-Type', 'text/html; charset=utf-8');
  ctx.body = html;
}

/**
 * A body that does not change while the service runs. It is loaded on the first request and shared by all responses.
 * Clients may cache it and revalidate it with its `ETag`.
 */
export function constant(type: string, load: () => Promise<Buffer>): (ctx: Context) => Promise<void> {
  let loading: Promise<{ readonly body: Buffer; readonly etag: string }> | undefined;

  return async (ctx) => {
    loading ??= load().then((body) => ({ body, etag: `"${sha256(body)}"` }));
    const { body, etag } = await loading.catch((error: unknown) => {
      // The next request tries again.
      loading = undefined;
      throw error;
    });
    ctx.set('ETag', etag);
    ctx.set('Cache-Control', 'no-cache');
    if (isNotModified(ctx, etag)) return;
    ctx.set('Content-Type', type);
    ctx.body = body;
  };
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url');
}

/**
 * Sets 304 if `If-None-Match` contains the ETag (RFC 9110, 13.1.2, weak comparison). Koa's `fresh` would ignore the
 * condition if the request has `Cache-Control: no-cache`.
 */
export function isNotModified(ctx: Context, etag: string): boolean {
  if (!isKnown(ctx, etag)) return false;
  ctx.status = 304;
  return true;
}

/** Whether `If-None-Match` contains the ETag. */
export function isKnown(ctx: Context, etag: string): boolean {
  const condition = ctx.req.headers['if-none-match'];
  if (condition === undefined) return false;
  const listed: readonly string[] | null = condition.match(/"[^"]*"/g);
  return condition.trim() === '*' || listed?.includes(etag) === true;
}

/** In bytes: shorter bodies fit into the send buffer of the system. */
const LONG = 64 * 1024;
/** Maximum number of bytes of bodies that are being sent. */
const MAX_BYTES = 128 * 2 ** 20;

/**
 * The long bodies that are being sent. A slow reader keeps its body in memory until its connection closes. Readers of
 * the same Buffer share it. Beyond the bound, the readers of the oldest body are disconnected.
 */
export class LongBodies {
  /** The oldest body first. */
  readonly #readers = new Map<Buffer, Set<ServerResponse>>();
  #bytes = 0;

  /** Counts `body`, if it is long, until `response` closes. */
  track(body: Buffer, response: ServerResponse): void {
    if (body.length < LONG || response.destroyed) return;
    let readers = this.#readers.get(body);
    if (readers === undefined) {
      readers = new Set();
      this.#readers.set(body, readers);
      this.#bytes += body.length;
    }
    readers.add(response);
    whenClosed(response, () => this.#release(body, response));
    this.#makeRoom(body);
  }

  #release(body: Buffer, response: ServerResponse): void {
    const readers = this.#readers.get(body);
    readers?.delete(response);
    if (readers?.size === 0) this.#forget(body);
  }

  /** The newest body is always sent. */
  #makeRoom(newest: Buffer): void {
    for (const [body, readers] of this.#readers) {
      if (this.#bytes <= MAX_BYTES) return;
      if (body === newest) continue;
      this.#forget(body);
      for (const reader of readers) reader.destroy();
    }
  }

  #forget(body: Buffer): void {
    if (this.#readers.delete(body)) this.#bytes -= body.length;
  }
}
