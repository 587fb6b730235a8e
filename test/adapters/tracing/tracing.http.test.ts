import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, context } from '@opentelemetry/api';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-node';
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { MemoryEventStore } from '../../../src/adapters/memory';
import { type EventStore, StoreUnavailable } from '../../../src/event-sourcing';
import type { Overrides } from '../../../src/service/bootstrap';
import { RawSocket } from '../../support/raw-socket';
import { HOST } from '../../support/requests';
import { TOKENS, type WatchedService, startWatched } from '../../support/watched-service';
import { InMemorySdk, type SdkOptions } from './in-memory-sdk';

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const TRACEPARENT = `00-${CALLER.traceId}-${CALLER.spanId}-01`;
const FERN = JSON.stringify({ id: 7, name: 'Fern' });

describe('With an OpenTelemetry SDK, the service', () => {
  let sdk: InMemorySdk;
  let service: WatchedService;

  async function start(options?: SdkOptions, overrides?: Overrides): Promise<void> {
    sdk = new InMemorySdk(options);
    service = await startWatched({}, overrides);
  }

  afterEach(async () => {
    await service.stop();
    await sdk.close();
  });

  async function ask(path: string, init: RequestInit = {}, fields: Readonly<Record<string, string>> = {}) {
    const type = { Authorization: `Bearer ${TOKENS.alice}`, 'Content-Type': 'application/json' };
    const response = await fetch(service.url + path, { ...init, headers: { ...type, ...fields } });
    await response.text();
    return response;
  }

  it('makes a span per request, by the conventions for HTTP servers', async () => {
    await start();
    await ask('/plants/7?next=1', { method: 'DELETE' });
    const { port } = new URL(service.url);
    const request = sdk.spans.at(-1)!;
    expect(request.name).to.equal('DELETE /plants/:id');
    expect(request.kind).to.equal(SpanKind.SERVER);
    expect(request.parentSpanContext).to.equal(undefined);
    expect(request.status.code).to.equal(SpanStatusCode.UNSET);
    expect(request.attributes).to.deep.equal({
      'http.request.method': 'DELETE',
      'http.route': '/plants/:id',
      'http.response.status_code': 404,
      'url.scheme': 'http',
      'url.path': '/plants/7',
      'server.address': '127.0.0.1',
      'server.port': Number(port),
      'user.hash': hashOf('alice'),
    });
  });

  it('makes it a child of the span in traceparent', async () => {
    await start();
    await ask('/plants', {}, { traceparent: TRACEPARENT });
    const request = sdk.spans.at(-1)!;
    expect(request.spanContext().traceId).to.equal(CALLER.traceId);
    expect(request.parentSpanContext).to.include({ ...CALLER, isRemote: true });
  });

  it('names that span in the log line of the request', async () => {
    await start();
    await ask('/plants', {}, { traceparent: TRACEPARENT });
    const { traceId, spanId } = sdk.spans.at(-1)!.spanContext();
    const line = service.log.map((text) => JSON.parse(text) as Record<string, unknown>).at(-1)!;
    expect(line).to.include({ msg: 'request', trace_id: CALLER.traceId, span_id: spanId });
    expect(line['traceparent']).to.equal(`00-${traceId}-${spanId}-01`);
  });

  it('activates no context for a request that is not sampled, and logs the span of its caller', async () => {
    const contexts: Context[] = [];
    const eventStore = new MemoryEventStore();
    const append = eventStore.append.bind(eventStore);
    eventStore.append = (...args) => {
      contexts.push(context.active());
      return append(...args);
    };
    await start({ sampler: new AlwaysOffSampler() }, { eventStore });
    await ask('/plants', { method: 'POST', body: FERN }, { traceparent: TRACEPARENT });
    expect(contexts).to.deep.equal([ROOT_CONTEXT]);
    expect(sdk.spans).to.deep.equal([]);
    expect(service.log.at(-1)).to.contain(`"traceparent":"${TRACEPARENT}"`);
  });

  it('makes a round the child of its request, and a store call the child of the round', async () => {
    await start();
    await ask('/plants', { method: 'POST', body: FERN });
    const [append, round, request] = sdk.spans;
    expect(sdk.spans.map(({ name }) => name)).to.deep.equal(['append', 'round', 'POST /plants']);
    expect(round!.parentSpanContext?.spanId).to.equal(request!.spanContext().spanId);
    expect(append!.parentSpanContext?.spanId).to.equal(round!.spanContext().spanId);
    expect(round!.attributes).to.deep.equal({
      'plant_store.round.requests': 1,
      'plant_store.category': 'plants',
      'user.hash': hashOf('alice'),
    });
    expect(append!.kind).to.equal(SpanKind.CLIENT);
    expect(append!.attributes).to.deep.equal({
      'db.system.name': 'memory',
      'db.operation.name': 'append',
      'plant_store.outcome': 'appended',
    });
  });

  it('marks what an unavailable store has failed, with the type of the error', async () => {
    await start({}, { eventStore: unavailable() });
    expect((await ask('/plants')).status).to.equal(503);
    expect(sdk.spans.map(({ name }) => name)).to.deep.equal(['read', 'round', 'GET /plants']);
    for (const { status, attributes } of sdk.spans) {
      expect(status).to.deep.equal({ code: SpanStatusCode.ERROR });
      expect(attributes['error.type']).to.equal('StoreUnavailable');
    }
  });

  it('makes a span for a request without a route, and for one with a method of no standard', async () => {
    await start();
    await ask('/nothing/here?token=secret');
    const client = await RawSocket.open(service.url);
    await client.send(`PROPFIND http://plants.example/plants?x=1 HTTP/1.1\r\n${HOST}\r\n`).answer();
    client.reset();
    const [unknownPath, unknownMethod] = sdk.spans;
    expect(unknownPath!.name).to.equal('GET');
    expect(unknownPath!.attributes).to.include({ 'url.path': '/nothing/here' });
    expect(unknownPath!.attributes).to.not.have.property('http.route');
    expect(JSON.stringify(unknownPath!.attributes)).to.not.contain('secret');
    expect(unknownMethod!.name).to.equal('HTTP');
    expect(unknownMethod!.attributes).to.include({
      'http.request.method': '_OTHER',
      'http.request.method_original': 'PROPFIND',
      'url.path': '/plants',
    });
  });

  it('answers and logs requests whose spans the SDK cannot start or end', async () => {
    const fail = () => {
      throw new Error('the exporter is broken');
    };
    const done = () => Promise.resolve();
    for (const broken of [
      { onStart: fail, onEnd: () => {} },
      { onStart: () => {}, onEnd: fail },
    ]) {
      await start({ processor: { ...broken, forceFlush: done, shutdown: done } });
      expect((await ask('/plants', { method: 'POST', body: FERN })).status).to.equal(200);
      expect((await ask('/plants')).status).to.equal(200);
      expect(service.log.filter((line) => line.includes('"msg":"request"'))).to.have.length(2);
      await service.stop();
      await sdk.close();
    }
  });

  it('says in the log that requests are traced', async () => {
    await start();
    expect(service.log.join('')).to.contain('an OpenTelemetry SDK is registered: requests are traced');
  });
});

describe('Without an OpenTelemetry SDK, the service', () => {
  it('does not trace, and logs the span of the caller', async () => {
    const service = await startWatched();
    const headers = { traceparent: TRACEPARENT };
    await (await fetch(`${service.url}/plants`, { headers })).text();
    await service.stop();
    expect(service.log.join('')).to.not.contain('OpenTelemetry');
    expect(service.log.join('')).to.contain(`"traceparent":"${TRACEPARENT}"`);
  });
});

function hashOf(user: string): string {
  return createHash('sha256').update(user).digest('hex').slice(0, 12);
}

function unavailable(): EventStore {
  const store = new MemoryEventStore();
  store.read = () => Promise.reject(new StoreUnavailable('Redis does not answer'));
  return store;
}
