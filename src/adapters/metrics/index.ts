/** The face of the metrics adapter. */
export { Metrics } from './metrics';
