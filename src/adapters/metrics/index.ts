/** The public interface of the metrics adapter. */
export { type AuthSource, type MetricDescription, Metrics } from './metrics';
