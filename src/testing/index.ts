/** The public face of testing: the contract of an event store (docs/write-a-store.md), and examples for a decider. */
export { type DeciderExamples, examplesOf } from './decider-examples';
export { ODD_TEXTS } from './odd-texts';
export {
  type ContractCase,
  type ContractOptions,
  type OpenStore,
  eventStoreContract,
} from './event-store-contract';
