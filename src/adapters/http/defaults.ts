import { DEFAULT_TIMEOUT_MS } from '../../event-sourcing';

/** The options that `serve` and the service's configuration start from. */
export const HTTP_DEFAULTS = {
  host: '127.0.0.1',
  maxConnections: 4096,
  maxUserRequests: 2048,
  bodyLimit: 65_536,
  requestTimeoutMs: 15_000,
  storeTimeoutMs: DEFAULT_TIMEOUT_MS,
} as const;
