import { expect } from 'chai';
import type { Readiness } from '../../src/adapters/http';
import { readiness } from '../../src/service/readiness';
import { ManualClock } from '../support/manual-clock';

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

  it('reports whether the store can be read and written', async () => {
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

  it('checks the store once for all probes during the check and within a second of its result', async () => {
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

  it('reports that nothing works, in time, while the store does not answer', async () => {
    const probe = ready();
    await clock.pass(TIMEOUT_MS);
    expect(await probe).to.deep.equal({ reads: false, writes: false });
  });
});
