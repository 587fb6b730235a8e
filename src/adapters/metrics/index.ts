/** The public interface of the metrics adapter. */
export { Metrics } from './metrics';
