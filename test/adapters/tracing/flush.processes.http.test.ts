import { expect } from 'chai';
import { once } from 'node:events';
import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { RawSocket } from '../../support/raw-socket';
import { ServiceProcess } from '../../support/service-process';
import { until } from '../../support/until';
import { TOKENS } from '../../support/watched-service';

const NODE_OPTIONS = '--require ts-node/register --require ./test/adapters/tracing/collector-sdk.ts';
const FERN = '{"id":7,"name":"Fern"}';

describe('A service that ends, with an OpenTelemetry SDK', () => {
  let collector: Server;
  let spans: string[];
  let reply: (response: ServerResponse) => void;
  let service: ServiceProcess;

  beforeEach(async () => {
    spans = [];
    reply = (response) => response.end();
    collector = createServer((request, response) => {
      void json(request).then((names) => {
        spans.push(...(names as string[]));
        reply(response);
      });
    });
    await once(collector.listen(0, '127.0.0.1'), 'listening');
    const { port } = collector.address() as AddressInfo;
    service = await ServiceProcess.start({ NODE_OPTIONS, COLLECTOR: `http://127.0.0.1:${port}` });
  });
  afterEach(async () => {
    await service.kill();
    collector.close().closeAllConnections();
  });

  /** Sends a request, SIGTERM before its last byte, and that byte while the service drains. */
  async function requestDuringDrain(): Promise<void> {
    const client = await RawSocket.open(service.url);
    const fields = `Host: a\r\nAuthorization: Bearer ${TOKENS.alice}\r\nContent-Type: application/json`;
    client.send(`POST /plants HTTP/1.1\r\n${fields}\r\nContent-Length: ${FERN.length}\r\n\r\n`);
    client.send(FERN.slice(0, -1));
    await until(async () => (await fetch(`${service.url}/health/ready`)).ok);
    service.signal('SIGTERM');
    await until(() => service.output.includes('"draining"'));
    expect((await client.send(FERN.slice(-1)).answer('POST')).status).to.equal(200);
  }

  it('exports the spans of the requests that it answered while it drained', async () => {
    await requestDuringDrain();
    expect(await service.exitCode()).to.equal(0);
    expect(spans).to.include.members(['append', 'round', 'POST /plants']);
  });

  for (const [what, answer, reason] of [
    ['does not answer', () => {}, /has not answered within 2000 ms/],
    ['refuses the spans', (response) => void response.writeHead(500).end(), /./],
  ] as readonly (readonly [string, typeof reply, RegExp])[]) {
    it(`ends with its exit code, and logs it, if the collector ${what}`, async () => {
      reply = answer;
      await requestDuringDrain();
      expect(await service.exitCode()).to.equal(0);
      const line = service.output.split('\n').find((text) => text.includes('the last spans'));
      expect(line).to.match(reason).and.contain('the last spans could not be exported');
      expect(service.output).to.contain('"msg":"ended"');
    });
  }
});
