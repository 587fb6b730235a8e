import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { RawSocket } from '../../../support/raw-socket';
import { IsolatedService } from '../../../support/isolated-service';
import { oddBytes } from './odd-bytes';

const CONNECTIONS = process.env['LONG'] === '1' ? 100_000 : 2000;
const AT_ONCE = 10;
const SEED = process.env['SEED'] ? Number(process.env['SEED']) : randomInt(2 ** 31);
const MIB = 2 ** 20;

describe('arbitrary bytes on a connection', function () {
  this.timeout(300_000).slow(60_000);
  let service: IsolatedService;
  const met = new Map<number, number>();

  before(async () => (service = await IsolatedService.start({ BODY_LIMIT: '2000' })));
  after(() => service.stop());

  async function exchange(writes: readonly Buffer[]): Promise<void> {
    const client = await RawSocket.open(service.url);
    const { answers } = await client
      .send(...writes)
      .finish()
      .answers();
    for (const answer of answers) {
      expect(answer.status).to.be.below(500);
      met.set(answer.status, (met.get(answer.status) ?? 0) + 1);
    }
  }

  const fuzz = (connections: number, seed: number) =>
    fc.assert(
      fc.asyncProperty(fc.array(oddBytes, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (batch) => {
        await Promise.all(batch.map(exchange));
      }),
      { numRuns: connections / AT_ONCE, seed, endOnFailure: true },
    );

  it(`leave the service running, within its contract, without a fault and without leaked memory (SEED=${SEED})`, async () => {
    await fuzz(CONNECTIONS / 10, SEED);
    const { heap } = await service.status();
    await fuzz(CONNECTIONS, SEED + 1);
    const after = await service.status();

    expect(service.running).to.equal(true);
    expect(after.faults).to.deep.equal([]);
    expect((after.heap - heap) / MIB).to.be.below(5);
    expect([...met.keys()]).to.include.members([200, 204, 400, 401, 404, 405, 413, 415]);
  });
});
