/** What Prometheus asks for. A file of its own: whoever brings metrics need not have Koa's types. */
export interface MetricsSource {
  readonly contentType: string;
  text(): Promise<string>;
}
