import { expect } from 'chai';
import type { Readiness } from '../../src/adapters/http';
import { StoreUnavailable } from '../../src/event-sourcing';
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
      {
        check: () => new Promise((resolve, reject) => void asked.push({ resolve, reject })),
        status: () => ({ reads: true, writes: true, refusals: ['out_of_memory'] }),
      },
      clock,
      TIMEOUT_MS,
    );
  });

  it('reports whether the store can be read and written, and why not', async () => {
    const results: [settle: () => void, Readiness][] = [
      [() => asked.at(-1)!.resolve({ writes: true }), { reads: true, writes: true }],
      [
        () => asked.at(-1)!.resolve({ writes: false }),
        { reads: true, writes: false, reasons: ['writes_refused', 'out_of_memory'] },
      ],
      [
        () => asked.at(-1)!.reject(new StoreUnavailable('a replica', { reason: 'store_refused' })),
        { reads: false, writes: false, reasons: ['reads_refused', 'out_of_memory'] },
      ],
      [
        () => asked.at(-1)!.reject(new StoreUnavailable('away')),
        { reads: false, writes: false, reasons: ['store_unreachable'] },
      ],
    ];
    for (const [settle, due] of results) {
      const probe = ready();
      settle();
      expect(await probe).to.deep.equal(due);
      await clock.pass(1000);
    }
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
    expect(await probe).to.deep.equal({ reads: false, writes: false, reasons: ['store_timeout'] });
  });
});
