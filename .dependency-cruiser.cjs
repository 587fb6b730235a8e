/** The layer rules: dependencies point inwards only. docs/architecture.md shows them as a picture. */

const service = require('./service/package.json');

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'core-is-pure',
      comment: 'The domain and the engine import only themselves: no package, no Node, no other layer.',
      severity: 'error',
      from: { path: '^src/(domain|event-sourcing)/' },
      to: { pathNot: '^src/$1/' },
    },
    {
      name: 'application-knows-only-domain-and-engine',
      severity: 'error',
      from: { path: '^src/application/' },
      to: { pathNot: '^src/(application|domain|event-sourcing)/' },
    },
    {
      name: 'layers-are-imported-through-their-index',
      comment: 'A layer is imported through its index.',
      severity: 'error',
      from: { path: '^src/([^/]+)' },
      to: {
        path: '^src/(domain|event-sourcing|application)/',
        pathNot: '^src/$1/|^src/(domain|event-sourcing|application)/index[.]ts$',
      },
    },
    {
      name: 'stores-know-no-plant',
      comment: 'An event store stores the events of any domain.',
      severity: 'error',
      from: { path: '^src/adapters/(redis|memory)/' },
      to: { path: '^src/(domain|application)/' },
    },
    {
      name: 'adapters-are-independent',
      comment:
        'An adapter imports the ports and no other adapter; only the composition root imports several.',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/' },
      to: { path: '^src/(?!domain/|event-sourcing/|application/)', pathNot: '^src/adapters/$1/' },
    },
    {
      name: 'testing-knows-ports-and-the-reference',
      comment:
        'The published contract of a store knows the ports, the memory store as reference, the commit ids of the service, and fast-check.',
      severity: 'error',
      from: { path: '^src/testing/' },
      to: {
        path: '^src/|node_modules/',
        pathNot:
          '^src/testing/|^src/(event-sourcing|adapters/memory|adapters/system)/index[.]ts$|node_modules/(fast-check|@types)/',
      },
    },
    {
      name: 'service-without-testing',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/testing/' },
      to: { path: '^src/testing/' },
    },
    {
      name: 'koa-stays-in-http',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/adapters/http/' },
      to: { path: 'node_modules/(koa|@koa|koa-bodyparser|ajv)/' },
    },
    {
      name: 'ioredis-stays-in-redis',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/adapters/redis/' },
      to: { path: 'node_modules/ioredis/' },
    },
    {
      name: 'prom-client-stays-in-metrics',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/adapters/metrics/' },
      to: { path: 'node_modules/prom-client/' },
    },
    {
      name: 'opentelemetry-stays-in-tracing',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/adapters/tracing/' },
      to: { path: 'node_modules/@opentelemetry/' },
    },
    {
      name: 'configuration-does-no-io',
      comment: 'The composition root passes functions that read files or use the network.',
      severity: 'error',
      from: { path: '^src/service/config/' },
      to: { path: '^(fs|net|tls|dns|https?|child_process)(/|$)', reachable: true },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      comment: 'A file that no other file imports is dead code.',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: '^src/(main|cli)[.]ts$|[.]json$' },
      to: {},
    },
    {
      name: 'service-without-other-packages',
      comment: 'The service runs with the packages of service/package.json alone.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/testing/' },
      to: {
        path: 'node_modules/',
        pathNot: `node_modules/(@types|${Object.keys(service.dependencies).join('|')})/`,
      },
    },
    { name: 'service-without-tests', severity: 'error', from: { path: '^src/' }, to: { path: '^test/' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'] },
  },
};
