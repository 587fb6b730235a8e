import { SpanKind, context, trace } from '@opentelemetry/api';
import { expect } from 'chai';
import { RequestSpans } from '../../../src/adapters/tracing/request-spans';
import { Spans } from '../../../src/adapters/tracing/spans';
import { InMemorySdk } from './in-memory-sdk';

describe('The span of a request', () => {
  let sdk: InMemorySdk;
  beforeEach(() => void (sdk = new InMemorySdk()));
  afterEach(() => sdk.close());

  function serve(target: string, headers: Readonly<Record<string, string>> = {}): void {
    const requests = new RequestSpans(Spans.registered('1')!, (user) => user);
    requests.start({ method: 'GET', target, headers }).end({ requestId: 'any', status: 200 });
  }

  it('is internal under an active span, such as that of an instrumented node:http', () => {
    const active = trace.getTracer('node:http').startSpan('GET', { kind: SpanKind.SERVER });
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    context.with(trace.setSpan(context.active(), active), () => serve('/', { traceparent }));
    expect(sdk.spans[0]!.kind).to.equal(SpanKind.INTERNAL);
    expect(sdk.spans[0]!.parentSpanContext?.spanId).to.equal(active.spanContext().spanId);
  });

  for (const [host, address, port] of [
    ['plants.example', 'plants.example', undefined],
    ['plants.example:8080', 'plants.example', 8080],
    ['[::1]:3000', '[::1]', 3000],
    ['', undefined, undefined],
    [undefined, undefined, undefined],
  ] as const) {
    it(`has the server of Host: ${host ?? 'absent'}`, () => {
      serve('/', host === undefined ? {} : { host });
      expect(sdk.spans[0]!.attributes['server.address']).to.equal(address);
      expect(sdk.spans[0]!.attributes['server.port']).to.equal(port);
    });
  }

  for (const [target, path] of [
    ['/plants?limit=1', '/plants'],
    ['http://plants.example/plants?limit=1', '/plants'],
    ['http://plants.example', '/'],
    ['*', '*'],
  ] as const) {
    it(`has the path of ${target}`, () => {
      serve(target);
      expect(sdk.spans[0]!.attributes['url.path']).to.equal(path);
    });
  }
});
