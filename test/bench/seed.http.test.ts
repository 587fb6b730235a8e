import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { seed } from '../../bench/seed';

describe("The benchmark's seeding", () => {
  it('creates each plant once, even if the server closes a connection after some thousands of requests', async () => {
    const count = 60_000;
    const created = new Set<string>();
    const server = createServer((request, response) => {
      request.on('data', (body: Buffer) => created.add(/"id":(\d+)/.exec(String(body))![1]!));
      request.on('end', () => response.end());
    });
    // 60,000 requests on 16 connections are 3,750 on each.
    server.maxRequestsPerSocket = 3_500;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/plants`;
    try {
      await seed({ url, tokenOf: () => 'any', firstId: 1, count });
    } finally {
      server.close();
    }

    expect(created.size).to.equal(count);
  });
});
