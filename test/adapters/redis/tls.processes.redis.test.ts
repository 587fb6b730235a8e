import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { type Server, createServer } from 'node:tls';
import { expect } from 'chai';
import { HttpClient } from '../../support/client';
import { describePrograms } from '../../support/programs';
import { type RedisServer, describeRedis, formCluster } from '../../support/redis';
import { freePort, listenLocally } from '../../support/ports';
import { ServiceProcess } from '../../support/service-process';
import { temporaryDirectory } from '../../support/temporary-directory';
import { until } from '../../support/until';
import { THIS_MACHINE } from '../../world/network';
import { startSentinel } from '../../world/processes';
import { tokenOf } from '../../support/token';
import { ScriptedSentinel } from './scripted-sentinel';

describePrograms({ openssl: 'openssl' }, 'A service that connects to Redis by TLS', () => {
  describeRedis('with certificates for the name localhost', (startRedis) => {
    const path = temporaryDirectory();
    let tlsPort: number;
    let redis: RedisServer;
    let service: ServiceProcess | undefined;

    /** A certificate for localhost, which is its own authority. */
    function certify(whose: string): void {
      const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
      const subject = [
        '-subj',
        '/CN=localhost',
        '-addext',
        'subjectAltName=DNS:localhost',
        '-days',
        '1',
      ];
      const files = ['-keyout', path(`${whose}.key`), '-out', path(`${whose}.crt`)];
      execFileSync('openssl', ['req', '-x509', ...key, ...subject, ...files], { stdio: 'ignore' });
    }

    /** The settings of a server and of a Sentinel. */
    const certificates = () =>
      ['cert-file ours.crt', 'key-file ours.key', 'ca-cert-file ours.crt'].map(
        (setting) => `tls-${setting.replace('ours', path('ours'))}`,
      );

    async function startTls(...args: string[]): Promise<[RedisServer, number]> {
      const port = await freePort();
      const tls = [`tls-port ${port}`, ...certificates(), 'tls-auth-clients no'];
      return [await startRedis(...tls.flatMap((each) => `--${each}`.split(' ')), ...args), port];
    }

    beforeEach(async () => {
      ['ours', 'theirs'].forEach(certify);
      [redis, tlsPort] = await startTls();
    });
    afterEach(() => service?.kill());

    async function start(url: string, more: Record<string, string> = {}): Promise<HttpClient> {
      const store = { EVENT_STORE: 'redis', REDIS_URL: url, NODE_EXTRA_CA_CERTS: path('ours.crt') };
      service = await ServiceProcess.start({ ...store, ...more });
      return new HttpClient(service.url, 'alice', tokenOf('alice'));
    }

    async function serves(...args: Parameters<typeof start>): Promise<void> {
      const client = await start(...args);
      await client.plants([1, 'Fern']);
      expect(await client.names()).to.deep.equal(['Fern']);
    }

    it('serves if it trusts the authority of the certificates', async () => {
      await serves(`rediss://localhost:${tlsPort}`);
      expect(await redis.admin.client('LIST')).to.match(new RegExp(`laddr=127.0.0.1:${tlsPort}`));
    });

    describe('behind an endpoint that routes by server name (SNI)', () => {
      let router: Server;
      let port: number;
      let sentinel: ScriptedSentinel | undefined;

      beforeEach(async () => {
        sentinel = undefined;
        router = createServer(
          { cert: readFileSync(path('ours.crt')), key: readFileSync(path('ours.key')) },
          (client) => {
            if (client.servername !== 'localhost') return client.destroy();
            const server = createConnection(redis.port, redis.host);
            client.pipe(server).pipe(client);
            for (const [socket, other] of [
              [client, server],
              [server, client],
            ] as const)
              socket.on('error', () => other.destroy()).on('close', () => other.destroy());
          },
        );
        port = await listenLocally(router);
      });
      afterEach(async () => {
        await service?.kill();
        router.close();
        await sentinel?.close();
      });

      it('serves with one Redis', () => serves(`rediss://localhost:${port}`));

      it('serves with a Cluster that announces its nodes by name', async () => {
        const named =
          'cluster-announce-hostname localhost --cluster-preferred-endpoint-type hostname';
        redis = await startRedis(...`--cluster-enabled yes --${named}`.split(' '));
        await formCluster([redis], [port]);
        await serves('rediss://localhost', { REDIS_CLUSTER_NODES: `localhost:${port}` });
      });

      it('serves with a primary that Sentinel announces by host name', async () => {
        sentinel = await new ScriptedSentinel({ peer: ['localhost', String(port)] }).start();
        const sentinels = {
          REDIS_SENTINELS: `127.0.0.1:${sentinel.port}`,
          REDIS_SENTINEL_MASTER: 'plants',
        };
        await serves('rediss://x', sentinels);
      });
    });

    for (const [what, address, ca, reason] of [
      [
        'a certificate of another authority',
        'rediss://localhost',
        'theirs.crt',
        /self-signed certificate/,
      ],
      [
        'a certificate for another name',
        'rediss://127.0.0.1',
        'ours.crt',
        /ERR_TLS_CERT_ALTNAME_INVALID.*127\.0\.0\.1/,
      ],
      [
        'a URL without TLS',
        'redis://localhost',
        'ours.crt',
        /Redis cannot be reached: .*(closed|ECONNRESET)/i,
      ],
    ] as const)
      it(`is unavailable with ${what}, and logs the reason`, async () => {
        const client = await start(`${address}:${tlsPort}`, { NODE_EXTRA_CA_CERTS: path(ca) });
        expect(await client.list()).to.include({ status: 503, error: 50300 });
        await until(() => service!.events.some(({ msg }) => reason.test(String(msg))));
        expect(await redis.admin.dbsize()).to.equal(0);
      });

    it('serves with a Cluster that announces its nodes by name', async () => {
      const named =
        'cluster-announce-hostname localhost --cluster-preferred-endpoint-type hostname';
      const [node, port] = await startTls(
        ...`--cluster-enabled yes --tls-cluster yes --${named}`.split(' '),
      );
      await formCluster([node]);
      await serves('rediss://localhost', { REDIS_CLUSTER_NODES: `localhost:${port}` });
    });

    it('serves with a primary that Sentinel announces by host name', async () => {
      const names = ['sentinel resolve-hostnames yes', 'sentinel announce-hostnames yes'];
      const lines = [...names, 'tls-replication yes', ...certificates()];
      const primary = { host: 'localhost', port: tlsPort };
      const sentinel = await startSentinel(path('sentinel'), THIS_MACHINE, primary, { lines });
      const sentinels = {
        REDIS_SENTINELS: `127.0.0.1:${sentinel.port}`,
        REDIS_SENTINEL_MASTER: 'plants',
      };
      await serves('rediss://x', sentinels);
      expect(await redis.admin.exists('plant-store:{39}:plants/alice:events')).to.equal(1);
      await sentinel.stop();
    });
  });
});
