import { expect } from 'chai';
import type { RoundTracer } from '../../src/event-sourcing';
import { OneAggregate, TIMEOUT_MS } from './one-aggregate';

/** Notes the rounds. The origins are the numbers of the requests, in the order of their arrival. */
class NotingTracer implements RoundTracer {
  readonly noted: unknown[] = [];
  #requests = 0;

  origin(): unknown {
    return ++this.#requests;
  }

  start(stream: string, origins: readonly unknown[]) {
    this.noted.push({ started: stream, origins });
    return (fault?: unknown) =>
      void this.noted.push({ ended: stream, fault: (fault as Error | undefined)?.name });
  }
}

describe('The tracer of an aggregate', () => {
  const started = (...origins: number[]) => ({ started: 'ada', origins });
  const ended = (fault?: string) => ({ ended: 'ada', fault });

  it('gets the fault of a failed round', async () => {
    const tracer = new NotingTracer();
    const fixture = new OneAggregate({ tracer });
    fixture.list();
    await fixture.store.sole.refuse();

    expect(tracer.noted).to.deep.equal([started(1), ended('StoreUnavailable')]);
  });

  it('does not get the origin of a request that expired before its round', async () => {
    const tracer = new NotingTracer();
    const fixture = new OneAggregate({ tracer });
    fixture.list();
    fixture.list();
    await fixture.clock.pass(TIMEOUT_MS / 2);
    fixture.list();
    await fixture.clock.pass(TIMEOUT_MS / 2);
    await fixture.store.calls[0]!.answer();

    expect(tracer.noted.at(-1)).to.deep.equal(started(3));
  });
});
