import { expect } from 'chai';
import { readiness } from '../src/readiness';
import { ManualClock } from './support/manual-clock';

const TIMEOUT_MS = 2000;

describe('Readiness', () => {
  let clock: ManualClock;
  let asked: { readonly resolve: (value: unknown) => void; readonly reject: (error: unknown) => void }[];
  let ready: () => Promise<boolean>;

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
    const yes = ready();
    asked[0]!.resolve(undefined);
    expect(await yes).to.equal(true);

    await clock.pass(1000);
    const no = ready();
    asked[1]!.reject(new Error('away'));
    expect(await no).to.equal(false);
  });

  it('asks once for all who probe while it is asked, and within a second of its answer', async () => {
    const probes = [ready(), ready()];
    await clock.pass(1500);
    probes.push(ready());
    asked[0]!.resolve(undefined);
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
    expect(await probe).to.equal(false);
  });
});
