import { setTimeout as pause } from 'node:timers/promises';
import { HttpClient, type HttpRequest, type HttpResponse } from '../../support/client';
import type { ClientOperation } from '../../support/linearizability';
import { type PlantRequest, WRITES } from '../../support/plant-requests';
import { randomFrom } from '../../support/random';
import { STORE_TIMEOUT_MS, type ServiceInstance } from '../topology/service-instance';

/** A client closes its connection after this time without a response. */
const GIVES_UP_MS = 8 * STORE_TIMEOUT_MS;
const PACE_MS = 20;
const IMPATIENT_MS = 50;
/** Beyond this number of plants a client deletes before it creates, so that lists stay short. */
const MOST_PLANTS = 6;

/** One request with its response, or without one if the connection ended or was refused. */
export interface Attempt {
  readonly user: string;
  readonly request: PlantRequest;
  readonly instance: ServiceInstance;
  readonly asked: number;
  readonly answered: number;
  readonly response: HttpResponse | 'refused' | 'none';
}

/** A request that was repeated until its outcome was known, for the linearizability oracle. */
export interface UserOperation extends ClientOperation {
  readonly user: string;
  /** Whether the write was acknowledged with 200 or 204. */
  readonly acknowledged: boolean;
  /** How often it was sent. */
  readonly attempts: number;
}

/** What one client does. */
export interface ClientPlan {
  readonly user: string;
  /** All its requests go to this instance; to any of them if it is absent. */
  readonly instance?: ServiceInstance;
  /** Whether it only lists. */
  readonly reads?: boolean;
}

/** The clients of a scenario. */
export type ClientWork = (instances: readonly ServiceInstance[], users: readonly string[]) => ClientPlan[];

/** Two clients of each user, which send each request to any instance. */
export const anywhere: ClientWork = (_, users) => users.flatMap((user) => [{ user }, { user }]);

/** For each user a client that writes and reads, and one that only reads, at each instance. */
export const atEachInstance: ClientWork = (instances, users) =>
  instances.flatMap((instance) =>
    users.flatMap((user) => [
      { user, instance },
      { user, instance, reads: true },
    ]),
  );

class BoundedClient extends HttpClient {
  override send(request: HttpRequest): Promise<HttpResponse> {
    return super.send({ ...request, signal: AbortSignal.timeout(GIVES_UP_MS) });
  }
}

/**
 * Clients that create, delete and list at any instance, and repeat each request until its outcome is known, as
 * docs/http-api.md recommends: after 503, and if there is no response. Every other one waits as `Retry-After` says; the
 * others repeat at once. Most ids belong to one client; for the others all clients of a user compete.
 */
export class RetryingClients {
  readonly attempts: Attempt[] = [];
  readonly operations: UserOperation[] = [];
  #stopped = false;
  #abandoned = false;
  #contended = 0;
  readonly #clients: Promise<unknown>;

  constructor(
    private readonly instances: readonly ServiceInstance[],
    plans: readonly ClientPlan[],
    seed: number,
  ) {
    this.#clients = Promise.all(
      plans.map((plan, number) => this.#run(number, plan, randomFrom(seed + number))),
    );
    // Handled by `stop`.
    this.#clients.catch(() => {});
  }

  /** Lets each client complete its request. Resolves with whether all did within this time. */
  async stop(withinMs: number): Promise<boolean> {
    this.#stopped = true;
    const completed = await Promise.race([
      this.#clients.then(() => true),
      pause(withinMs, false, { ref: false }),
    ]);
    this.#abandoned = true;
    await this.#clients;
    return completed;
  }

  /** Creates a plant at this instance, and deletes it. Resolves once both are acknowledged. */
  async createAndDelete(user: string, instance: ServiceInstance, id: number): Promise<void> {
    const name = `probe ${id}`;
    await this.#complete(user, { type: 'create', id, name }, () => instance, false, true);
    await this.#complete(user, { type: 'delete', id, name }, () => instance, false, true);
  }

  async #run(number: number, { user, instance, reads }: ClientPlan, random: () => number): Promise<void> {
    const mine: { readonly id: number; readonly name: string; readonly owned: boolean }[] = [];
    const nextInstance = () => instance ?? this.instances[Math.floor(random() * this.instances.length)]!;
    const complete = (request: PlantRequest, owned: boolean) =>
      this.#complete(user, request, nextInstance, number % 2 === 0 && !reads, owned);
    for (let count = 1; !this.#stopped; count++) {
      const dice = reads ? 1 : random();
      if (dice < 0.4 && mine.length < MOST_PLANTS) {
        const owned = dice > 0.1;
        // New ones all the time, because an id may stay taken after an unknown outcome.
        const id = owned ? (number + 1) * 1_000_000 + count : -1 - Math.floor(this.#contended++ / 4);
        const plant = { id, name: `${number}-${count}` };
        const answer = await complete({ type: 'create', ...plant }, owned);
        if (answer === 'created') mine.push({ ...plant, owned });
      } else if (dice < 0.75 && mine.length > 0) {
        const [plant] = mine.splice(Math.floor(random() * mine.length), 1);
        await complete({ type: 'delete', id: plant!.id, name: plant!.name }, plant!.owned);
      } else {
        await complete({ type: 'list' }, false);
      }
      await pause(PACE_MS);
    }
  }

  /** Repeats the request until its outcome is known. */
  async #complete(
    user: string,
    request: PlantRequest,
    instance: () => ServiceInstance,
    waits: boolean,
    owned: boolean,
  ): Promise<ClientOperation['answer']> {
    const unknown: Attempt[] = [];
    for (let attempts = 1; ; attempts++) {
      const attempt = await this.#attempt(user, request, instance());
      const { asked, answered, response } = attempt;
      this.attempts.push(attempt);
      if (typeof response === 'object' && response.status !== 503) {
        const answer = answerOf(request, response);
        const acknowledged = response.status < 300 && request.type !== 'list';
        const done = { user, request, answered, acknowledged, attempts };
        // An instance that answered 50301 executes the write before the answer to its repetition or never. One that
        // did not answer, for example because it is frozen, may execute it at any time.
        const settles = unknown.every((earlier) => typeof earlier.response === 'object');
        if (owned && request.type === 'create' && settles && (acknowledged || unknown.length > 0)) {
          this.operations.push({ ...done, asked: unknown[0]?.asked ?? asked, answer: 'created' });
          return 'created';
        }
        this.#recordUnknown(unknown);
        this.operations.push({ ...done, asked, answer });
        return answer;
      }
      if (
        request.type !== 'list' &&
        (response === 'none' || (typeof response === 'object' && response.error === 50301))
      )
        unknown.push(attempt);
      if (this.#abandoned) {
        this.#recordUnknown(unknown);
        return 'unknown';
      }
      const seconds = typeof response === 'object' ? Number(response.headers['retry-after']) : 0;
      await pause(waits ? seconds * 1000 : IMPATIENT_MS);
    }
  }

  #recordUnknown(attempts: readonly Attempt[]): void {
    for (const { user, request, asked, answered } of attempts)
      this.operations.push({
        user,
        request,
        asked,
        answered,
        answer: 'unknown',
        acknowledged: false,
        attempts: 1,
      });
  }

  async #attempt(user: string, request: PlantRequest, instance: ServiceInstance): Promise<Attempt> {
    const asked = performance.now();
    const response = await this.#send(new BoundedClient(instance.url, user), request).catch(lostResponse);
    return { user, request, instance, asked, answered: performance.now(), response };
  }

  #send(client: HttpClient, request: PlantRequest): Promise<HttpResponse> {
    if (request.type === 'list') return client.list();
    return WRITES[request.type].sendOverHttp(client, request.id, request.name ?? '');
  }
}

/** The response in the form of the linearizability oracle. */
function answerOf({ type }: PlantRequest, { status, error, names }: HttpResponse): ClientOperation['answer'] {
  if (status < 300) return type === 'list' ? names! : WRITES[type].acknowledged;
  if (error === 40003) return 'id-taken';
  if (error === 40401) return 'no-such-plant';
  return `${status}/${error ?? '–'}`;
}

function lostResponse(error: unknown): 'refused' | 'none' {
  const { code, name } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED') return 'refused';
  if (code === 'ECONNRESET' || code === 'EPIPE' || name === 'AbortError' || name === 'TimeoutError')
    return 'none';
  // Such as a response that is not documented.
  throw error;
}
