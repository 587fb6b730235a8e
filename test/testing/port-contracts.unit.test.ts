/** The contracts of the ports beside the event store must detect broken ones, and each of their cases some of these. */
import { expect } from 'chai';
import {
  type ContractCase,
  checkpointStoreContract,
  leaseStoreContract,
  snapshotStoreContract,
  streamArchiveContract,
  streamCatalogueContract,
} from '../../src/testing';
import { BROKEN_ARCHIVES } from './broken-archives';
import { BROKEN_CATALOGUES } from './broken-catalogues';
import { BROKEN_CHECKPOINTS } from './broken-checkpoints';
import { BROKEN_LEASES } from './broken-leases';
import { BROKEN_SNAPSHOTS } from './broken-snapshots';
import { type Change, type PlaceFaults, openOn } from './simulated-place';

const OPTIONS = { durable: true, shared: true, seed: 42, timeoutMs: 5000, manyStreams: 1500, erases: true };

const CONTRACTS = {
  'a stream catalogue': { contract: streamCatalogueContract, broken: BROKEN_CATALOGUES },
  'a snapshot store': { contract: snapshotStoreContract, broken: BROKEN_SNAPSHOTS },
  'a checkpoint store': { contract: checkpointStoreContract, broken: BROKEN_CHECKPOINTS },
  'a lease store': { contract: leaseStoreContract, broken: BROKEN_LEASES },
  'a stream archive': { contract: streamArchiveContract, broken: BROKEN_ARCHIVES },
};

for (const [port, { contract, broken }] of Object.entries(CONTRACTS))
  describe(`The contract of ${port}`, () => {
    it('accepts one without faults', async () => {
      expect(await failed(contract(openOn(), OPTIONS))).to.deep.equal([]);
    });

    const failures = new Map<string, Promise<readonly string[]>>();
    const failuresOf = (what: string) => {
      const fault: Change | PlaceFaults = broken[what] ?? { whenClosed: (call) => call() };
      const known = failures.get(what) ?? failed(contract(openOn(fault), OPTIONS));
      failures.set(what, known);
      return known;
    };
    const faults = [...Object.keys(broken), 'answers after it was closed'];
    for (const what of faults)
      it(`detects one that ${what}`, async () => {
        expect(await failuresOf(what)).not.to.deep.equal([]);
      });

    it('has no case that accepts all of these', async () => {
      const detecting = (await Promise.all(faults.map(failuresOf))).flat();
      const useless = contract(openOn(), OPTIONS).filter(({ name }) => !detecting.includes(name));
      expect(useless.map(({ name }) => name)).to.deep.equal([]);
    });
  });

/** The names of the cases that fail. */
async function failed(cases: readonly ContractCase[]): Promise<string[]> {
  const names: string[] = [];
  for (const { name, run } of cases) await run().catch(() => names.push(name));
  return names;
}
