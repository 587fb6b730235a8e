import { once } from 'node:events';
import { type RequestListener, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { dockerAnswers, dockerHost } from './docker-daemon';

describe('the search for a Docker daemon', () => {
  async function asked(daemon: RequestListener, withinMs?: number): Promise<boolean> {
    const server = createServer(daemon);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      return await dockerAnswers(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, withinMs);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  it('finds a daemon that answers', async () => {
    expect(await asked((request, response) => response.end(request.url))).to.equal(true);
  });

  it('finds a daemon that requires TLS', async () => {
    expect(await asked((_, response) => response.writeHead(400).end())).to.equal(true);
  });

  it('does not wait for a daemon that hangs', async () => {
    expect(await asked(() => {}, 100)).to.equal(false);
  });

  it('finds nothing if the socket does not exist', async () => {
    expect(await dockerAnswers('unix:///nowhere/docker.sock')).to.equal(false);
  });

  it('uses only DOCKER_HOST if it is set', () => {
    expect(dockerHost({ DOCKER_HOST: 'tcp://127.0.0.1:1' })).to.equal('tcp://127.0.0.1:1');
  });
});
