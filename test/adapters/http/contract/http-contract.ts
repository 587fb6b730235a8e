/**
 * The executable contract of the HTTP interface (docs/http-api.md), over real
 * HTTP and with any event store.
 * Every test has its own user, so tests may share instances and stores.
 */
import type { UserOperationId } from '../../../../src/adapters/http/openapi/operations';
import { HttpClient } from '../../../support/client';
import { answering } from './answering';
import { bodies } from './bodies';
import { callers } from './callers';
import { creating } from './creating';
import { deleting } from './deleting';
import { listing } from './listing';
import { operations } from './operations';
import { paging } from './paging';
import { resources } from './resources';

export interface Candidate {
  readonly name: string;
  /** Starts one or more instances on one store with these environment variables; called once. */
  start(environment: Readonly<Record<string, string>>): Promise<Started>;
}

export interface Started {
  readonly urls: readonly string[];
  stop(): Promise<unknown>;
}

/** The service under test. Available only while tests run. */
export interface Subject {
  readonly url: string;
  /** A user that no other test has. */
  user(): HttpClient;
  /** One user with two tokens. */
  twin(): readonly [HttpClient, HttpClient];
}

const USERS = Array.from({ length: 400 }, (_, index) => index);
const AUTH_TOKENS = USERS.flatMap((n) => [`user ${n}:token-${n}`, `user ${n}:other-${n}`]).join();
export const BODY_LIMIT = 65_536;

type Suite = (service: Subject) => void;

/**
 * The tests of each operation of users. What follows from the table of operations is in {@link operations}. The operations
 * of the service itself use no streams, so they have tests of their own, with one store: `docs.http.test.ts` for the
 * documentation, `admin-port.http.test.ts` and the tests of readiness and of metrics for the others.
 */
const BY_OPERATION: Readonly<Record<UserOperationId, readonly [Suite, ...Suite[]]>> = {
  createPlant: [creating, bodies],
  listPlants: [listing, paging],
  deletePlant: [deleting],
};

export function httpContract({ name, start }: Candidate): void {
  describe(`${name} keeps the contract of the HTTP interface`, () => {
    let started: Started | undefined;
    let users = 0;
    before(async () => void (started = await start({ AUTH_TOKENS, BODY_LIMIT: String(BODY_LIMIT) })));
    after(() => started?.stop());

    const clientOf = (user: number, token: string) =>
      new HttpClient(started!.urls, `user ${user}`, `${token}-${user}`);
    const subject: Subject = {
      get url() {
        return started!.urls[0]!;
      },
      user: () => clientOf(users++, 'token'),
      twin: () => [clientOf(users, 'token'), clientOf(users++, 'other')],
    };
    for (const suite of new Set(Object.values(BY_OPERATION).flat())) suite(subject);
    for (const suite of [operations, callers, resources, answering]) suite(subject);
  });
}
