/** The public face of the event store contract: for whoever writes a store, docs/write-a-store.md. */
export {
  type ContractCase,
  type ContractOptions,
  type OpenStore,
  eventStoreContract,
} from './event-store-contract';
