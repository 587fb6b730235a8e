import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { HttpClient } from '../support/client';
import { metricOf } from '../support/metrics';
import { patient } from '../support/patience';
import { describePrograms } from '../support/programs';
import { ServiceProcess } from '../support/service-process';
import { unsentAfterClose } from '../support/system-sockets';
import { tokenOf } from '../support/token';
import { runProgram } from './run-program';

const ATTACKERS = 200;

/** The options of each attack, which sends or reads a few bytes a second. */
const ATTACKS: Readonly<Record<string, (url: string) => readonly string[]>> = {
  'a slow header (slowloris)': (url) => ['-H', '-u', `${url}/plants`],
  // slowhttptest has no option for a header field, and writes this one as it is.
  'a slow body': (url) => [
    ...['-B', '-u', `${url}/plants`],
    ...['-f', `application/json\r\nAuthorization: Bearer ${tokenOf('mallory')}`],
  ],
  // Several long responses on each connection, of a path that needs no token.
  'a slow reader': (url) => [
    ...['-X', '-u', `${url}/docs/swagger-ui-bundle.js`],
    ...['-w', '512', '-y', '1024', '-z', '32', '-n', '1', '-k', '5'],
  ],
};

describePrograms(
  { slowhttptest: 'slowhttptest' },
  `The service, with ${ATTACKERS} connections of slowhttptest`,
  function () {
    this.timeout(90_000);
    let service: ServiceProcess | undefined;
    before(async () => {
      service = await ServiceProcess.start({
        AUTH_TOKENS: ['alice', 'mallory'].map((user) => `${user}:${tokenOf(user)}`).join(),
        REQUEST_TIMEOUT_MS: '4000',
        LOG_FORMAT: 'json',
        LOG_LEVEL: 'info',
      });
    });
    after(() => service?.kill());

    for (const [attack, options] of Object.entries(ATTACKS))
      it(`serves others during ${attack}, and ends all connections of the attack`, async () => {
        const { url } = service!;
        const alice = new HttpClient(url, 'alice');
        const size = ['-c', String(ATTACKERS), '-r', String(ATTACKERS), '-i', '1', '-l', '15'];
        let output: string | undefined;
        const ended = runProgram('slowhttptest', [...size, ...options(url)]);
        const noted = ended.then((text) => (output = text));
        let [connections, slowest, released] = [0, 0, false];
        for (let id = 1; output === undefined; id++) {
          for (const { status, took } of [
            await alice.create(id, 'Fern'),
            await alice.list(),
            await alice.delete(id),
          ]) {
            expect(status).to.be.oneOf([200, 204]);
            slowest = Math.max(slowest, took);
          }
          connections = Math.max(connections, await metricOf(url, 'http_connections'));
          // slowhttptest itself does not notice that a connection was reset.
          released ||=
            connections > ATTACKERS &&
            (await metricOf(url, 'http_connections')) < 10 &&
            unsentAfterClose(url) === 0;
          await Promise.race([noted, pause(50)]);
        }

        expect(connections).to.be.above(ATTACKERS);
        expect(released || output.includes('No open connections left')).to.equal(true);
        expect(slowest).to.be.below(patient(1000));
      });
  },
);
