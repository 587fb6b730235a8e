import { DEFAULT_TIMEOUT_MS } from '../../event-sourcing';

/** Default options of `openRedisEventStore` and of the service's configuration. */
export const REDIS_DEFAULTS = {
  keyPrefix: 'plant-store',
  waitReplicas: 0,
  feedLength: 10_000,
  timeoutMs: DEFAULT_TIMEOUT_MS,
} as const;
