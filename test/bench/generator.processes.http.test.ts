import { expect } from 'chai';
import { createServer, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { run } from '../../bench/load';

/** Runs `work` with the URL of a server that answers requests with `answer`. */
async function served<T>(answer: RequestListener, work: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}/plants`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe("The benchmark's generator, at a constant rate,", function () {
  this.timeout(60_000).slow(10_000);
  const load = { token: 'any', seconds: 1, settleSeconds: 1 };

  it('sends each request once, and those of each user in turn', async () => {
    const tokens = new Map<string, number>();
    const ids = new Set<string>();
    const { requests } = await served(
      (request, response) => {
        const { authorization = '' } = request.headers;
        tokens.set(authorization, (tokens.get(authorization) ?? 0) + 1);
        ids.add(request.url!);
        response.writeHead(204).end();
      },
      (url) =>
        run(
          { ...load, method: 'DELETE', url, users: 3, ids: [{ first: 1, count: 2000 }], rate: 300 },
          'node',
          undefined,
        ),
    );
    // In the second before the measurement, and in the one that counts.
    expect(requests).to.equal(600);
    expect(ids.size).to.equal(600);
    expect([...tokens].sort()).to.deep.equal([
      ['Bearer any0', 200],
      ['Bearer any1', 200],
      ['Bearer any2', 200],
    ]);
  });

  it('counts the time that a request waits for the server, and for a connection', async () => {
    const STALL_MS = 2000;
    let began: number | undefined;
    let stalled = false;
    const { p50Ms, maxMs } = await served(
      (_, response) => {
        began ??= performance.now();
        // Once, and while it counts.
        if (!stalled && performance.now() > began + 1300) {
          stalled = true;
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STALL_MS);
        }
        response.writeHead(204).end();
      },
      (url) => run({ ...load, seconds: 3, method: 'GET', url, ids: [], rate: 1000 }, 'node', undefined),
    );
    expect(maxMs).to.be.above(STALL_MS * 0.9);
    // Two thirds of the requests came due during the stall, so half of all waited for a quarter of it or longer. The
    // generator had connections for a sixth.
    expect(p50Ms).to.be.above(STALL_MS * 0.2);
  });
});
