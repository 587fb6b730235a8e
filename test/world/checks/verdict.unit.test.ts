import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { PlantRequest } from '../../support/plant-requests';
import type { Attempt, UserOperation } from '../workload/retrying-clients';
import { CLUSTER_FAULTS, scheduleOf } from '../faults/faults';
import { randomFrom } from '../../support/random';
import type { Probe, ServiceInstance } from '../topology/service-instance';
import {
  type FaultWindow,
  falseReadiness,
  falseReports,
  historyProblem,
  lateResponses,
  lostWrites,
  staleLists,
  windowsOfLosses,
} from './verdict';

const FERN: PlantRequest = { type: 'create', id: 1, name: 'Fern' };
const STORED = [{ type: 'PlantCreated', id: 1, name: 'Fern' }];

function operation(
  request: PlantRequest,
  answer: UserOperation['answer'],
  [asked, answered]: readonly [number, number],
): UserOperation {
  const acknowledged = answer === 'created' || answer === 'deleted';
  return { user: 'alice', request, asked, answered, answer, acknowledged, attempts: 1 };
}

function lossFrom(from: number, to: number, losesSince: number | undefined): FaultWindow {
  return { fault: 'kill a primary', from, to, switched: true, losesSince };
}

describe('The verdict on an episode of chaos', () => {
  const created = operation(FERN, 'created', [10, 20]);

  it('accepts a history that is linearizable, and refuses an acknowledged write that is lost', () => {
    expect(historyProblem([created], STORED, [])).to.equal(undefined);
    expect(historyProblem([created], [], [])).to.be.a('string');
    expect([lostWrites([created], STORED), lostWrites([created], [])]).to.deep.equal([0, 1]);
  });

  it('refuses events that the rules cannot lead to, although each was acknowledged', () => {
    const taken: PlantRequest = { type: 'create', id: 1, name: 'Moss' };
    const events = [...STORED, { type: 'PlantCreated', id: 1, name: 'Moss' }];
    expect(historyProblem([created, operation(taken, 'created', [10, 20])], events, [])).to.be.a('string');
    expect(historyProblem([created, operation(taken, 'id-taken', [10, 20])], STORED, [])).to.equal(undefined);
    const deleted = operation({ type: 'delete', id: 2 }, 'deleted', [10, 20]);
    const missing = [...STORED, { type: 'PlantDeleted', id: 2 }];
    expect(historyProblem([created, deleted], missing, [])).to.be.a('string');
  });

  it('takes an acknowledged deletion that is not stored for lost, although its creation is stored', () => {
    const deleted = operation({ type: 'delete', id: 1, name: 'Fern' }, 'deleted', [30, 40]);
    expect(lostWrites([created, deleted], STORED)).to.equal(1);
    expect(lostWrites([created, deleted], [...STORED, { type: 'PlantDeleted', id: 1 }])).to.equal(0);
  });

  it('refuses a write that got 50300 and is stored, and a write that is stored twice', () => {
    expect(historyProblem([], STORED, [])).to.be.a('string');
    expect(historyProblem([created], [...STORED, { type: 'PlantDeleted', id: 1 }, ...STORED], [])).to.be.a(
      'string',
    );
  });

  it('accepts a loss that an instance reported only in its window, and only if the pages allow it', () => {
    expect(historyProblem([created], [], [lossFrom(0, 100, 0)])).to.equal(undefined);
    expect(historyProblem([created], [], [lossFrom(30, 100, 30)])).to.be.a('string');
    expect(historyProblem([created], [], [lossFrom(0, 100, 25)])).to.be.a('string');
    expect(historyProblem([created], [], [lossFrom(0, 100, undefined)])).to.be.a('string');
  });

  it('accepts a loss beside a write of the same window that is stored', () => {
    const lost = operation({ type: 'create', id: 2, name: 'Moss' }, 'created', [30, 40]);
    expect(historyProblem([created, lost], STORED, [lossFrom(0, 100, 0)])).to.equal(undefined);
  });

  it('accepts reads of lost events only in a window whose loss was reported', () => {
    const unknown = operation(FERN, 'unknown', [10, 20]);
    const read = operation({ type: 'list' }, ['Fern'], [30, 40]);
    expect(historyProblem([unknown, read], [], [])).to.be.a('string');
    expect(historyProblem([unknown, read], [], [lossFrom(0, 100, undefined)])).to.equal(undefined);
    const later = operation({ type: 'list' }, ['Fern'], [110, 120]);
    expect(historyProblem([unknown, later], [], [lossFrom(0, 100, undefined)])).to.be.a('string');
  });

  it('takes a report of a lost history for its user, and refuses it without a failover', () => {
    const user = createHash('sha256').update('alice').digest('hex').slice(0, 12);
    const windows = [lossFrom(0, 100, 0), { ...lossFrom(100, 200, undefined), switched: false }];
    expect(windowsOfLosses('alice', [{ at: 50, user }], windows)).to.deep.equal([windows[0]]);
    expect(windowsOfLosses('bob', [{ at: 50, user }], windows)).to.deep.equal([]);
    const restored = { ...lossFrom(0, 100, 0), restored: true };
    expect(windowsOfLosses('bob', [], [restored])).to.deep.equal([restored]);
    expect(falseReports([{ at: 50, user }], windows)).to.deep.equal([]);
    expect(falseReports([{ at: 150, user }], windows)).to.have.lengthOf(1);
  });

  const HOUR = 3_600_000;
  const instance = (probes: readonly Probe[], interrupted = false) =>
    ({ probes, wasInterrupted: () => interrupted, url: 'http://127.0.0.1:1' }) as unknown as ServiceInstance;
  const attempt = (
    on: ServiceInstance,
    asked: number,
    took: number,
    response: unknown,
    request: PlantRequest = FERN,
  ) => ({ user: 'alice', request, instance: on, asked, answered: asked + took, response }) as Attempt;

  it('refuses a late response, and none at all, unless the instance was interrupted', () => {
    for (const interrupted of [false, true]) {
      const on = instance([], interrupted);
      const attempts = [
        attempt(on, 0, 10, { status: 200 }),
        attempt(on, 0, HOUR, { status: 200 }),
        attempt(on, 0, 10, 'none'),
      ];
      expect(lateResponses(attempts)).to.have.lengthOf(interrupted ? 0 : 2);
    }
  });

  const contradicts = (request: PlantRequest, status: number, probe: Omit<Probe, 'asked' | 'answered'>) => {
    const at = [1, 2, 3, 4, 5, 6].map((each) => HOUR + each);
    const on = instance(at.map((asked) => ({ asked, answered: asked, ...probe })));
    const attempts = at.map((asked) => attempt(on, asked, 0, { status }, request));
    return falseReadiness(on, attempts).length > 0;
  };

  it('refuses readiness that contradicts all requests for a while', () => {
    for (const request of [FERN, { type: 'list' } as const]) {
      expect(contradicts(request, 200, { ready: true, writes: true })).to.equal(false);
      expect(contradicts(request, 200, { ready: false, writes: false })).to.equal(true);
      expect(contradicts(request, 503, { ready: false, writes: false })).to.equal(false);
      expect(contradicts(request, 503, { ready: true, writes: true })).to.equal(true);
    }
    expect(contradicts({ type: 'list' }, 503, { ready: true, writes: false })).to.equal(true);
  });

  it('accepts that all writes fail for a while where readiness says so', () => {
    expect(contradicts(FERN, 503, { ready: true, writes: false })).to.equal(false);
  });

  it('finds lists without a write that was acknowledged before them, unless it is lost or its deletion was requested', () => {
    const on = instance([]);
    const list = (asked: number, names: readonly string[]) =>
      attempt(on, asked, 1, { status: 200, names }, { type: 'list' });
    const stale = (
      lists: readonly Attempt[],
      events: readonly { type: string; id: number; name?: string }[],
    ) => staleLists(lists, [created], new Map([['alice', events]])).map(({ list: { asked } }) => asked);
    expect(stale([list(15, []), list(25, []), list(26, ['Fern'])], STORED)).to.deep.equal([25]);
    expect(stale([list(25, [])], [])).to.deep.equal([]);
    const deletion = attempt(on, 24, 5, { status: 204 }, { type: 'delete', id: 1, name: 'Fern' });
    expect(stale([list(21, []), list(23, []), list(25, []), deletion], STORED)).to.deep.equal([21]);
  });

  it('is about faults that the seed determines', () => {
    const first = (seed: number) => {
      const schedule = scheduleOf(CLUSTER_FAULTS, randomFrom(seed));
      return Array.from({ length: 30 }, () => schedule.next().value);
    };
    expect(first(7)).to.deep.equal(first(7));
    expect(first(7)).not.to.deep.equal(first(8));
    expect(
      new Set(
        first(7)
          .slice(0, 24)
          .map(({ fault }) => fault),
      ).size,
    ).to.equal(24);
  });
});
