/** Sets responses on the context. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from './koa';
import { Overloaded } from './problems';

/** @param body JSON, in well-formed Unicode. */
export function json(ctx: Context, body: string | Buffer | Readable): void {
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
  ctx.body = html;
}

/** In ms, and bytes in such a time. */
const ALLOWANCE_MS = 60_000;
const ALLOWED = 48 * 2 ** 20;

/** Bounds the bytes of responses that need no token: the system takes them even if no client reads them. */
export class Allowance {
  #since = -Infinity;
  #left = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Throws {@link Overloaded} if all responses together have taken the allowance of a minute. */
  take(bytes: number): void {
    if (this.now() - this.#since >= ALLOWANCE_MS) [this.#since, this.#left] = [this.now(), ALLOWED];
    if (bytes > this.#left) throw new Overloaded('too many bytes were requested without a token');
    this.#left -= bytes;
  }
}

/** One content in an encoding. */
interface Variant {
  readonly body: Buffer;
  readonly etag: string;
}

/**
 * A body that does not change while the service runs. It is loaded and compressed on the first request and shared by all
 * responses. Clients may cache it and revalidate it with its `ETag`.
 */
export function constant(
  type: string,
  load: () => Promise<Buffer>,
  allowance: Allowance,
): (ctx: Context) => Promise<void> {
  let loading: Promise<Readonly<Record<'identity' | 'gzip', Variant>>> | undefined;
  const loadVariants = async () => {
    const body = await load();
    return { identity: variant(body), gzip: variant(await compress(body)) };
  };

  return async (ctx) => {
    loading ??= loadVariants();
    const variants = await loading.catch((error: unknown) => {
      // The next request tries again.
      loading = undefined;
      throw error;
    });
    const encoding = ctx.acceptsEncodings('gzip', 'identity') === 'gzip' ? 'gzip' : 'identity';
    const { body, etag } = variants[encoding];
    if (ctx.method !== 'HEAD' && !isKnown(ctx, etag)) allowance.take(body.length);
    vary(ctx, 'Accept-Encoding');
    ctx.set('ETag', etag);
    ctx.set('Cache-Control', 'no-cache');
    if (isNotModified(ctx, etag)) return;
    if (encoding === 'gzip') ctx.set('Content-Encoding', encoding);
    ctx.set('Content-Type', type);
    ctx.body = body;
  };
}

const compress = promisify<Buffer, Buffer>(gzip);

function variant(body: Buffer): Variant {
  return { body, etag: `"${sha256(body)}"` };
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
