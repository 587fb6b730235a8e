/** Starts the service with the SDK, sends requests, stops the service, and checks the spans. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { before, describe, it } from 'node:test';

const SERVE = ['--import', './dist/register.js', 'node_modules/plant-store-service/dist/cli.js', 'serve'];
const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent?: string;
  readonly ms: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

describe('The service with an OpenTelemetry SDK', () => {
  let log = '';
  let spans: readonly Span[];
  const named = (name: string): Span => spans.find((span) => span.name === name)!;

  before(async () => {
    const environment = { PATH: process.env['PATH'], PORT: '0', AUTH_TOKENS: 'alice:secret-of-alice' };
    const service = spawn(process.execPath, SERVE, { env: environment });
    let lines = '';
    service.stderr.on('data', (chunk: Buffer) => (lines += chunk.toString()));
    service.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()));
    while (!log.includes('listens on')) await once(service.stdout, 'data');
    const url = /listens on (http:[^"\s]+)/.exec(log)![1]!;
    await fetch(`${url}/plants`, {
      method: 'POST',
      headers: {
        Authorization: 'Bearer secret-of-alice',
        'Content-Type': 'application/json',
        traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01`,
      },
      body: JSON.stringify({ id: 1, name: 'Fern' }),
    });
    service.kill('SIGINT');
    const [code] = (await once(service, 'close')) as [number];
    assert.equal(code, 0, lines);
    spans = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Span);
  });

  it('exports the spans of the last requests before it ends', () => {
    assert.deepEqual(
      spans.map(({ name }) => name),
      ['append', 'round', 'POST /plants'],
    );
  });

  it('continues the trace of the client', () => {
    assert.equal(named('POST /plants').traceId, CALLER.traceId);
    assert.equal(named('POST /plants').parent, CALLER.spanId);
  });

  it('names the attributes of a request as the conventions do', () => {
    const { attributes } = named('POST /plants');
    assert.equal(attributes['http.request.method'], 'POST');
    assert.equal(attributes['http.route'], '/plants');
    assert.equal(attributes['http.response.status_code'], 200);
  });

  it('has the round in the trace of its request', () => {
    assert.equal(named('round').parent, named('POST /plants').spanId);
    assert.equal(named('round').attributes['plant_store.round.requests'], 1);
  });

  it('has the call to the store in the round', () => {
    assert.equal(named('append').parent, named('round').spanId);
    assert.equal(named('append').attributes['plant_store.outcome'], 'appended');
  });

  it('names the span of the request in its log line', () => {
    assert.ok(log.includes(`"span_id":"${named('POST /plants').spanId}"`));
  });
});
