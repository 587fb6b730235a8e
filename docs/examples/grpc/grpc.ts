/** Plants over gRPC, from the `PlantStore` of any other transport. */
import { fileURLToPath } from 'node:url';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { FAILURES, REJECTION_FAILURES, toFailure } from 'plant-store/adapters/http';
import type { Authenticator, PlantStore, User } from 'plant-store/application';
import { BrokenRule, NewPlant, PLANT_ID_RULE, parsePlantId } from 'plant-store/domain';
import type { CallOptions } from 'plant-store/event-sourcing';

const { status } = grpc;

/**
 * The status of each failure that a call may have, by the number that it has over HTTP, and the
 * reason for it.
 */
const STATUSES: ReadonlyMap<number, grpc.status> = new Map([
  // The same call fails again.
  [FAILURES.invalidBody.error, status.INVALID_ARGUMENT],
  // It depends on what exists, which may be the work of an earlier attempt of this client.
  [FAILURES.idTaken.error, status.ALREADY_EXISTS],
  [FAILURES.noSuchPlant.error, status.NOT_FOUND],
  // A different token may help. PERMISSION_DENIED is for a user who is known.
  [FAILURES.noCredentials.error, status.UNAUTHENTICATED],
  [FAILURES.badCredentials.error, status.UNAUTHENTICATED],
  // Nothing was written: the status that a retry policy repeats by itself.
  [FAILURES.unavailable.error, status.UNAVAILABLE],
  // The only status that says that the write may have been recorded.
  [FAILURES.outcomeUnknown.error, status.DEADLINE_EXCEEDED],
  [FAILURES.bug.error, status.INTERNAL],
]);

/**
 * What a call fails with. Its metadata has the number, and the reason and the pause of an
 * UNAVAILABLE.
 */
class Failure extends Error {
  readonly code: grpc.status;
  readonly metadata = new grpc.Metadata();

  constructor(
    { error, message }: { readonly error: number; readonly message: string },
    { reason, retryAfterMs }: ReturnType<typeof toFailure>['details'] = {},
  ) {
    super(message);
    this.code = STATUSES.get(error)!;
    this.metadata.set('error', String(error));
    if (reason !== undefined) this.metadata.set('reason', reason);
    if (retryAfterMs !== undefined) this.metadata.set('retry-after-ms', String(retryAfterMs));
  }

  static of(thrown: unknown): Failure {
    if (thrown instanceof Failure) return thrown;
    // A fault, or a bug: for the log, because its text is not for clients.
    console.error(thrown);
    const { failure, details } = toFailure(thrown);
    return new Failure(failure, details);
  }
}

function invalid(member: string, rule: string): Failure {
  return new Failure({ ...FAILURES.invalidBody, message: `${member} must be ${rule}` });
}

interface Members {
  /** A text: a JavaScript number is exact only up to 2^53. */
  readonly id?: string;
  readonly name?: string;
  readonly tag?: string;
}

/** Plants of 64 KiB, as many as fit into the 4 MiB of a message that clients accept by default. */
const LIMIT = 50;
const PROTO = fileURLToPath(new URL('../../grpc/plants.proto', import.meta.url));
/** Without defaults, a member that is absent is undefined. */
const loaded = grpc.loadPackageDefinition(loadSync(PROTO, { longs: String, defaults: false }));
/** The client of the service, which has the definition of it. */
export const Plants = (
  loaded as unknown as { plants: { v1: { Plants: grpc.ServiceClientConstructor } } }
).plants.v1.Plants;

interface Options {
  readonly plants: PlantStore;
  readonly authenticator: Authenticator;
  /** `host:port`. Port 0 selects a free one. */
  readonly address: string;
}

export async function serveGrpc({ plants, authenticator, address }: Options) {
  async function userOf({ metadata }: { readonly metadata: grpc.Metadata }): Promise<User> {
    const [, token] = /^bearer +(\S+)$/i.exec(String(metadata.get('authorization')[0])) ?? [];
    if (token === undefined) throw new Failure(FAILURES.noCredentials);
    const user = await authenticator.authenticate(token);
    if (typeof user !== 'string') throw new Failure(FAILURES.badCredentials);
    return user;
  }

  const unary =
    <In, Out>(
      answer: (user: User, message: In, options: CallOptions) => Promise<Out>,
    ): grpc.handleUnaryCall<In, Out> =>
    (call, callback) =>
      void userOf(call)
        .then((user) => answer(user, call.request, optionsOf(call)))
        .then(
          (value) => callback(null, value),
          (error: unknown) => callback(Failure.of(error)),
        );

  const server = new grpc.Server({
    'grpc.max_receive_message_length': 64 * 1024,
    'grpc.max_concurrent_streams': 256,
    // Finds clients that have gone without a word.
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 10_000,
  });
  server.addService(Plants.service, {
    Create: unary(async (user, { id, name, tag }: Members, options) => {
      const plant = NewPlant.parse(id, { name, tag });
      if (plant instanceof BrokenRule) throw invalid(plant.member, plant.rule);
      const { rejection } = await plants.create(user, plant, options);
      if (rejection) throw new Failure(REJECTION_FAILURES[rejection].failure);
      return { id, ...plant.plant };
    }),

    Delete: unary(async (user, { id = '' }: Members, options) => {
      const parsed = parsePlantId(id);
      if (parsed === undefined) throw invalid('id', PLANT_ID_RULE);
      const { rejection } = await plants.delete(user, parsed, options);
      if (rejection) throw new Failure(REJECTION_FAILURES[rejection].failure);
      return {};
    }),

    List: unary(
      async (user, query: { readonly limit?: number; readonly after?: string }, options) => {
        const limit = Math.min(query.limit ?? LIMIT, LIMIT);
        const { page } = await plants.list(
          user,
          { limit, after: Number(query.after ?? 0) },
          options,
        );
        return { plants: [...page], next: page.next };
      },
    ),
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });

  /**
   * Accepts no more calls, and ends once those in flight are answered, or are cut off after this
   * time.
   */
  async function close({ timeoutMs }: { readonly timeoutMs: number }): Promise<void> {
    const deadline = setTimeout(() => server.forceShutdown(), timeoutMs);
    await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
    clearTimeout(deadline);
  }
  return { port, close };
}

/**
 * The time that its client gives a call. Once the client has gone, a call that has not begun is
 * withdrawn.
 */
function optionsOf(call: grpc.ServerUnaryCall<unknown, unknown>): CallOptions {
  const gone = new AbortController();
  call.once('cancelled', () => gone.abort());
  if (call.cancelled) gone.abort();
  // Infinity without a deadline.
  return { timeoutMs: Number(call.getDeadline()) - Date.now(), signal: gone.signal };
}
