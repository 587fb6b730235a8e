import { randomUUID } from 'node:crypto';
import { IncomingMessage } from 'node:http';

/** What a caller may name his request: short, and harmless wherever it is written. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** A request with a name of its own, under which its answer and the log tell of it. */
export class NamedRequest extends IncomingMessage {
  #id: string | undefined;

  /** The caller's, where it is well-formed, or a new one. */
  get id(): string {
    return (this.#id ??= wellFormed(this.headers['x-request-id']) ?? randomUUID());
  }
}

/** @param request from a server that makes {@link NamedRequest}s. */
export function requestIdOf(request: IncomingMessage): string {
  return (request as IncomingMessage & Pick<NamedRequest, 'id'>).id;
}

/** W3C Trace Context, 3.2: version, trace, parent and flags in lower-case hex; all zeros, and version ff, are none. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The trace that the request is part of, where it says so in the one form that there is. */
export function traceparentOf({ headers: { traceparent } }: IncomingMessage): string | undefined {
  return typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : undefined;
}

function wellFormed(sent: string | string[] | undefined): string | undefined {
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : undefined;
}
