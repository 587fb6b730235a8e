import { ROOT_CONTEXT, type Span, TraceFlags, context, trace } from '@opentelemetry/api';
import { expect } from 'chai';
import { MemoryEventStore } from '../../../src/adapters/memory';
import { system } from '../../../src/adapters/system';
import { type Tracing, registeredTracing } from '../../../src/adapters/tracing';
import { PlantStore, parseUser, plantsOf } from '../../../src/application';
import { newPlant } from '../../support/given';
import { InMemorySdk, type SdkOptions } from './in-memory-sdk';

const ALICE = parseUser('alice')!;
const CALLER = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };

describe('The span of a round', () => {
  let sdk: InMemorySdk;
  let tracing: Tracing;
  let plants: PlantStore;

  function start(options?: SdkOptions): void {
    sdk = new InMemorySdk(options);
    tracing = registeredTracing({
      version: '1',
      nameOf: (user) => `hash of ${user}`,
      system: 'memory',
    })!;
    const store = tracing.traced(new MemoryEventStore());
    plants = new PlantStore({ ...system(), store, tracer: tracing.rounds });
  }

  afterEach(() => sdk.close());

  /** Requests that arrive in one turn, and so share a round. Each has a span, except the last. */
  async function share(...requests: readonly Span[]): Promise<void> {
    const created = requests.map((span, index) =>
      context.with(trace.setSpan(context.active(), span), () =>
        plants.create(ALICE, newPlant(index + 1, 'Fern')),
      ),
    );
    await Promise.all([...created, plants.list(ALICE)]);
    for (const span of requests) span.end();
  }

  const spanOf = (name: string) => trace.getTracer('test').startSpan(name);
  const ended = (name: string) => sdk.spans.find((span) => span.name === name)!;

  it('is the child of one of its requests, and linked to the others', async () => {
    start();
    const [first, second, third] = [spanOf('first'), spanOf('second'), spanOf('third')];
    await share(first, second, third);
    const round = ended('round');
    expect(round.attributes['plant_store.round.requests']).to.equal(4);
    expect(round.parentSpanContext?.spanId).to.equal(first.spanContext().spanId);
    expect(round.links.map((link) => link.context.spanId)).to.deep.equal([
      second.spanContext().spanId,
      third.spanContext().spanId,
    ]);
  });

  it('is recorded if any of its requests is', async () => {
    start();
    const unrecorded = trace.wrapSpanContext({ ...CALLER, traceFlags: TraceFlags.NONE });
    const recorded = spanOf('recorded');
    await share(unrecorded, recorded);
    expect(ended('round').parentSpanContext?.spanId).to.equal(recorded.spanContext().spanId);
    expect(ended('round').links).to.deep.equal([]);
  });

  it('is missing, with its store calls, without a sampled request', async () => {
    start();
    await share(trace.wrapSpanContext({ ...CALLER, traceFlags: TraceFlags.NONE }));
    expect(sdk.spans).to.deep.equal([]);
  });

  it('is the parent of store calls until the round ends', async () => {
    start();
    await share(spanOf('first'));
    expect(ended('append').parentSpanContext?.spanId).to.equal(ended('round').spanContext().spanId);
    expect(tracing.rounds.contextOf(plantsOf(ALICE))).to.equal(ROOT_CONTEXT);
  });
});
