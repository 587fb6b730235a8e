import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { compiledCli } from '../support/compiled-cli';
import { describePrograms } from '../support/programs';
import { type RedisServer, describeOwnRedis } from '../support/redis';
import { freePort } from '../support/redis/free-port';
import { ServiceProcess } from '../support/service-process';
import { temporaryDirectory } from '../support/temporary-directory';
import { until } from '../support/until';
import { TOKENS } from '../support/watched-service';
import { Haproxy } from '../world/load/haproxy';
import { theBlock } from './shell';

describePrograms({ haproxy: 'haproxy' }, 'The way from a request to its cause', () =>
  describeOwnRedis('leads', (startRedis) => {
    const bash = compiledCli();
    const path = temporaryDirectory();
    let redis: RedisServer;
    let service: ServiceProcess;
    let proxy: Haproxy;
    let environment: Record<string, string>;

    beforeEach(async () => {
      redis = await startRedis();
      const rule = /ACL SETUSER plant-store-admin.*/.exec(theBlock('redis tasks').text)![0];
      await redis.admin.call('ACL', ...rule.replace('>…', '>secret').split(' ').slice(1));
      const adminPort = await freePort();
      service = await ServiceProcess.start({
        EVENT_STORE: 'redis',
        REDIS_URL: redis.url,
        ADMIN_PORT: String(adminPort),
      });
      const servers = [Number(new URL(service.url).port)];
      proxy = await Haproxy.start({ port: await freePort(), servers, file: path('haproxy.cfg') });
      await until(() =>
        fetch(`${proxy.url}/health/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
      );
      const operator = new URL(redis.url);
      [operator.username, operator.password] = ['plant-store-admin', 'secret'];
      environment = {
        ...{ URL: proxy.url, TOKEN: TOKENS.alice, ID: 'the-request', LOG: path('log') },
        ...{ INSTANCE: `http://127.0.0.1:${adminPort}`, OPERATOR_URL: operator.href },
      };
    });
    afterEach(async () => {
      await proxy.stop();
      await service.kill();
    });

    /** The output of the commands of the page. */
    async function follow(step: string): Promise<string> {
      const proxied = proxy.requests.map((request) => `${JSON.stringify(request)}\n`).join('');
      writeFileSync(environment['LOG']!, service.output + proxied);
      const { out, error, code } = await bash(theBlock(`sh request ${step}`).text, environment).ended;
      expect(code, `${step}\n${out}${error}`).to.equal(0);
      return out;
    }

    /** The lines of the request, once all have been written. */
    async function lines(): Promise<string> {
      await until(() => service.output.includes('"requestId":"the-request"'));
      if (environment['URL'] === proxy.url)
        await until(() => proxy.requests.some(({ requestId }) => requestId === 'the-request'));
      return follow('lines');
    }

    async function create(id: number): Promise<number> {
      const { status } = await fetch(`${environment['URL']}/plants`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${TOKENS.alice}`,
          'Content-Type': 'application/json',
          'X-Request-Id': environment['ID']!,
        },
        body: JSON.stringify({ id, name: 'Fern' }),
      });
      return status;
    }

    it('from a refused write to a Redis without memory', async () => {
      await redis.admin.config('SET', 'maxmemory', '1');
      expect(await create(1)).to.equal(503);
      const found = await lines();
      expect(found)
        .to.contain('"error":50300,"reason":"store_refused"')
        .and.match(/"cause":"[^"]*OOM/);
      expect(found).to.contain('"termination":"--"');
      expect(await follow('others')).to.match(/ 1 "reason":"store_refused"\n *1 "user":"[0-9a-f]{12}"\n$/);
      await until(async () =>
        (await follow('metrics')).includes('"reasons":["writes_refused","out_of_memory"]'),
      );
      const metrics = await follow('metrics');
      expect(metrics).to.match(/http_request_failures_total\{.*reason="store_refused".*\} 1/);
      expect(metrics).to.contain('redis_finding{finding="out_of_memory"} 1');
      expect(await follow('redis')).to.match(/^used_memory:\d{5,}\r\nmaxmemory:1\r$/m);
    });

    it('from a failed list to a Redis that is down', async () => {
      await redis.stop();
      await proxy.stop();
      environment['URL'] = service.url;
      const answer = await follow('repeat');
      expect(answer)
        .to.match(/^HTTP\/1.1 503 /)
        .and.match(/\nX-Request-Id: the-request\r/i);
      expect(await lines())
        .to.contain('"reason":"store"')
        .and.contain('Redis cannot be reached');
      expect(await follow('trace')).to.match(/^"trace_id":"[0-9a-f]{32}"\n$/);
      await until(async () => (await follow('metrics')).includes(': store_unreachable'));
      const { code, error } = await bash(theBlock('sh request redis').text, environment).ended;
      expect(code).to.not.equal(0);
      expect(error).to.contain('Connection refused');
    });

    it('to the proxy if no instance is ready', async () => {
      service.signal('SIGTERM');
      await service.exitCode();
      await until(async () => (await fetch(`${environment['URL']}/health/ready`)).status === 503);
      expect(await follow('repeat')).to.match(/^HTTP\/1.1 503 /);
      await until(() => proxy.requests.some(({ requestId }) => requestId === 'the-request'));
      expect(await follow('lines')).to.match(
        /^\{[^\n]*"status":503,"server":"<NOSRV>","termination":"SC"[^\n]*\}\n$/,
      );
    });

    it('to no fault if the request succeeds', async () => {
      expect(await follow('repeat')).to.match(/^HTTP\/1.1 200 /);
      expect(await lines()).to.contain('"status":200');
      expect(await follow('metrics')).to.contain('"status":"ready"');
      expect(await follow('redis'))
        .to.contain('role:master')
        .and.contain('maxmemory:0');
    });
  }),
);
