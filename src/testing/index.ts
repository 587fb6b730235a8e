/** The public face of testing: the contracts of the ports (docs/write-a-store.md), and examples for a decider. */
export { type CheckpointOptions, checkpointStoreContract } from './checkpoint-store-contract';
export { type DeciderExamples, examplesOf } from './decider-examples';
export { eventStoreContract } from './event-store-contract';
export { leaseStoreContract } from './lease-store-contract';
export { ODD_TEXTS } from './odd-texts';
export type { ContractOptions, PortOptions } from './options';
export type { OpenStore } from './place';
export type { ContractCase } from './run-cases';
export { type SnapshotContractOptions, snapshotStoreContract } from './snapshot-store-contract';
export { streamArchiveContract } from './stream-archive-contract';
export { type CatalogueOptions, streamCatalogueContract } from './stream-catalogue-contract';
