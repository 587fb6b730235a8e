import { join } from 'node:path';
import { expect } from 'chai';
import { HttpClient } from '../support/client';
import { describePrograms } from '../support/programs';
import { tokenOf } from '../support/token';
import { ENTRANCES, PROXIES, entrances } from './entrances';
import { runProgram } from './run-program';

const CONNECTIONS = 8;
const SCRIPT = join(__dirname, 'programs', 'cycles.lua');

interface Summary {
  readonly requests: number;
  /** Responses with another status than 2xx. */
  readonly refused: number;
  /** Connections that failed, or requests without a response in time. */
  readonly broken: number;
}

describePrograms({ wrk: 'wrk', ...PROXIES }, 'The service', function () {
  this.timeout(60_000);
  const urls = entrances(ENTRANCES.map((_, index) => `user${index}`));

  for (const [index, entrance] of ENTRANCES.entries())
    it(`accepts every create, list and delete of wrk, ${entrance}`, async () => {
      const [url, user] = [urls[entrance], `user${index}`];
      const size = [`--threads=${CONNECTIONS}`, `--connections=${CONNECTIONS}`, '--duration=3s'];
      const output = await runProgram('wrk', [...size, `--script=${SCRIPT}`, url, tokenOf(user)]);

      const { requests, refused, broken } = JSON.parse(output.trimEnd().split('\n').at(-1)!) as Summary;
      expect({ refused, broken }).to.deep.equal({ refused: 0, broken: 0 });
      expect(requests).to.be.above(10 * CONNECTIONS);
      // Those between their create and their delete when wrk ended.
      expect(await new HttpClient(urls.directly, user).names()).to.have.length.at.most(CONNECTIONS);
    });
});
