import { expect } from 'chai';
import fc from 'fast-check';
import { type LoggerOptions, pino } from 'pino';
import { LogDestination } from '../../src/service/log-destination';
import { type RequestLine, RequestLines } from '../../src/service/request-lines';

/** A log, and what it has written. */
function opened(options: LoggerOptions = {}) {
  const written: string[] = [];
  const destination = new LogDestination({
    write: (bytes) => {
      written.push(Buffer.from(bytes).toString());
      return bytes.length;
    },
  });
  const log = pino({ base: { service: { name: 'plant-store' } }, ...options }, destination);
  const lines = () => {
    destination.flushSync();
    return written.splice(0).join('');
  };
  return { log, lines, requests: new RequestLines(log, destination) };
}

const LINE: RequestLine = {
  requestId: 'r',
  method: 'GET',
  route: '/plants',
  durationMs: 1,
  status: 200,
  user: 'u',
};

const withoutTime = (text: string) => text.replaceAll(/"time":[0-9]+/g, '"time":0');

const anyLine: fc.Arbitrary<RequestLine> = fc
  .record({
    requestId: fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/),
    method: fc.constantFrom('GET', 'POST', 'DELETE', undefined),
    route: fc.constantFrom('/plants', '/plants/:id', undefined),
    durationMs: fc.constantFrom(0, 0.5, 12, 1234.567, undefined),
    status: fc.constantFrom(200, 204, 404),
    error: fc.constantFrom(40101, 50300, undefined),
    reason: fc.constantFrom('token_expired', 'store', undefined),
    cause: fc.option(fc.string({ unit: 'binary' }), { nil: undefined }),
    user: fc.constantFrom('1f0c5ad9e6b2', 'ab54d286474e', undefined),
    trace: fc.constantFrom(
      {
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        trace_id: '0af7651916cd43dd8448eb211c80319c',
        span_id: 'b7ad6b7169203331',
      },
      {},
    ),
  })
  .map(({ trace, ...line }) => ({ ...line, ...trace }));

describe('The lines of requests', () => {
  it('equal those of pino, except for the time', () => {
    const { log, lines, requests } = opened();
    fc.assert(
      fc.property(fc.array(anyLine, { minLength: 1, maxLength: 20 }), (several) => {
        for (const line of several) log.info(line, 'request');
        const due = lines();
        for (const line of several) requests.write(line);
        expect(withoutTime(lines())).to.equal(withoutTime(due));
      }),
    );
  });

  it('equal those of pino in any order of their members', () => {
    const { log, lines, requests } = opened();
    const line = Object.fromEntries(Object.entries(LINE).reverse()) as unknown as RequestLine;
    log.info(line, 'request');
    const due = lines();
    requests.write(line);
    expect(withoutTime(lines())).to.equal(withoutTime(due));
  });

  it('are formatted by pino once for each kind of line', () => {
    let formatted = 0;
    const log = (line: Record<string, unknown>) => (formatted++, line);
    const { lines, requests } = opened({ formatters: { log } });
    const without = ['method', 'route', 'durationMs', 'user'].map((name) => ({ ...LINE, [name]: undefined }));
    const having = ['error', 'reason', 'traceparent', 'cause'].map((name) => ({ ...LINE, [name]: 'a' }));
    const kinds: RequestLine[] = [LINE, ...without, ...having];
    for (let time = 0; time < 3; time++)
      for (const kind of kinds) requests.write({ ...kind, requestId: String(time) });
    expect(lines().split('\n')).to.have.length(3 * kinds.length + 1);
    expect(formatted).to.equal(kinds.length);
  });

  it('have the time at which they are written', async () => {
    const { lines, requests } = opened();
    for (let request = 0; request < 2; request++) {
      const start = Date.now();
      requests.write(LINE);
      const { time } = JSON.parse(lines()) as { time: number };
      expect(time).to.be.within(start, Date.now());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });

  for (const [what, options] of Object.entries<LoggerOptions>({
    'a redacted member': { redact: ['user', 'durationMs'] },
    'another format of the time': { timestamp: pino.stdTimeFunctions.isoTime },
    'no time': { timestamp: false },
    'another key of the message': { messageKey: 'message' },
  })) {
    it(`follow the configuration of pino: ${what}`, () => {
      const { log, lines, requests } = opened(options);
      const plain = (text: string) => withoutTime(text).replaceAll(/"time":"[^"]+"/g, '');
      log.info(LINE, 'request');
      const due = plain(lines());
      for (let request = 0; request < 3; request++) {
        requests.write(LINE);
        expect(plain(lines())).to.equal(due);
      }
    });
  }

  it('are written in order with all other lines', () => {
    const { log, lines, requests } = opened();
    requests.write(LINE);
    log.warn('between');
    requests.write(LINE);
    const messages = lines()
      .trim()
      .split('\n')
      .map((text) => (JSON.parse(text) as { msg: string }).msg);
    expect(messages).to.deep.equal(['request', 'between', 'request']);
  });
});
