import { expect } from 'chai';
import type { Readiness } from '../src/adapters/http';
import { readiness } from '../src/readiness';
import { ManualClock } from './support/manual-clock';

const TIMEOUT_MS = 2000;

describe('Readiness', () => {
  let clock: ManualClock;
  let asked: {
    readonly resolve: (value: { readonly writes: boolean }) => void;
    readonly reject: (error: unknown) => void;
  }[];
  let ready: () => Promise<Readiness>;

  beforeEach(() => {
    clock = new ManualClock();
    asked = [];
    ready = readiness(
      () => new Promise((resolve, reject) => void asked.push({ resolve, reject })),
      clock,
      TIMEOUT_MS,
    );
  });

  it('is what the store says', async () => {
    for (const writes of [true, false]) {
      const yes = ready();
      asked.at(-1)!.resolve({ writes });
      expect(await yes).to.deep.equal({ reads: true, writes });
      await clock.pass(1000);
    }

    const no = ready();
    asked.at(-1)!.reject(new Error('away'));
    expect(await no).to.deep.equal({ reads: false, writes: false });
  });

  it('asks once for all who probe while it is asked, and within a second of its answer', async () => {
    const probes = [ready(), ready()];
    await clock.pass(1500);
    probes.push(ready());
    asked[0]!.resolve({ writes: true });
    await Promise.all(probes);
    await clock.pass(999);
    await ready();
    expect(asked).to.have.length(1);

    await clock.pass(1);
    void ready();
    expect(asked).to.have.length(2);
  });

  it('is no, in time, where the store says nothing', async () => {
    const probe = ready();
    await clock.pass(TIMEOUT_MS);
    expect(await probe).to.deep.equal({ reads: false, writes: false });
  });
});
