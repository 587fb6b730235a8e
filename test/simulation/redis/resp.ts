// RESP3, the protocol of Redis, as its server reads and writes it.

/** A reply of Redis. Texts are bulk strings. */
export type Reply =
  null | number | string | Buffer | ErrorReply | readonly Reply[] | ReadonlyMap<string, string | number>;

/** An error reply; the message begins with its code. */
export class ErrorReply {
  constructor(readonly message: string) {}
}

/** A command with its arguments, and its size in bytes. */
export interface RedisCommand {
  readonly args: readonly string[];
  readonly bytes: number;
}

/** Decodes commands from chunks of any size. */
export class CommandDecoder {
  #rest: Buffer = Buffer.alloc(0);

  /** The commands that this chunk completes. */
  write(chunk: Buffer): RedisCommand[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const commands: RedisCommand[] = [];
    for (let next = decodeCommand(this.#rest); next !== undefined; next = decodeCommand(this.#rest)) {
      commands.push(next);
      this.#rest = this.#rest.subarray(next.bytes);
    }
    return commands;
  }
}

/** The first command of `bytes`; `undefined` if it is not complete. */
function decodeCommand(bytes: Buffer): RedisCommand | undefined {
  let offset = 0;
  const number = () => {
    const end = bytes.indexOf('\r\n', offset);
    if (end < 0) return undefined;
    const value = Number(bytes.toString('latin1', offset + 1, end));
    offset = end + 2;
    return value;
  };
  const count = number();
  if (count === undefined) return undefined;
  const args: string[] = [];
  for (let index = 0; index < count; index++) {
    const length = number();
    if (length === undefined || offset + length + 2 > bytes.length) return undefined;
    args.push(bytes.toString('utf8', offset, offset + length));
    offset += length + 2;
  }
  return { args, bytes: offset };
}

export function encodeReply(reply: Reply): Buffer {
  const parts: Buffer[] = [];
  encodeInto(parts, reply);
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

function encodeInto(parts: Buffer[], reply: Reply): void {
  const text = (line: string) => void parts.push(Buffer.from(`${line}\r\n`));
  if (reply === null) text('_');
  else if (typeof reply === 'number') text(`:${reply}`);
  else if (typeof reply === 'string') text(`$${Buffer.byteLength(reply)}\r\n${reply}`);
  else if (reply instanceof ErrorReply) text(`-${reply.message}`);
  else if (Buffer.isBuffer(reply))
    parts.push(Buffer.from(`$${reply.length}\r\n`), reply, Buffer.from('\r\n'));
  else if (reply instanceof Map) {
    text(`%${reply.size}`);
    for (const part of [...(reply as Map<string, string | number>)].flat()) encodeInto(parts, part);
  } else {
    const items = reply as readonly Reply[];
    text(`*${items.length}`);
    for (const item of items) encodeInto(parts, item);
  }
}
