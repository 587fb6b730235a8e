/** What must agree with what: read from the files themselves, whose syntax other tests check. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { FAILURES } from '../../src/adapters/http';
import { OPERATIONS } from '../../src/adapters/http/operations';
import { variables } from '../../src/service/config';

const read = (file: string) => readFileSync(file, 'utf8');
/** The first group of `pattern` in a file. */
const found = (file: string, pattern: RegExp): string => {
  const match = pattern.exec(read(file));
  if (!match) throw new Error(`${file} does not have ${String(pattern)}`);
  return match[1]!;
};
const defaultOf = (name: string) => Number(variables.find((each) => each.name === name)!.fallback);

type Probe = {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  failureThreshold: number;
};
interface Pod {
  terminationGracePeriodSeconds: number;
  securityContext: { runAsUser: number };
  containers: [
    {
      ports: { name: string; containerPort: number }[];
      env: { name: string; value?: string }[];
      readinessProbe: Probe;
      livenessProbe: Probe;
      startupProbe: Probe;
    },
  ];
}
const HTTP_PAGE = 'docs/http-api.md';
const POD = 'deploy/kubernetes/deployment.yaml';
const { template } = (
  parse(read(POD)) as { spec: { template: { metadata: { labels: object }; spec: Pod } } }
).spec;
const [container] = template.spec.containers;
const setting = (name: string) => Number(container.env.find((each) => each.name === name)?.value);
const portOf = (name: string) => container.ports.find((port) => port.name === name)?.containerPort;
const probed = ({ httpGet: { path, port } }: Probe) => `${path} ${port}`;
const service = parse(read('deploy/kubernetes/service.yaml')) as {
  spec: { selector: object; ports: { targetPort: string }[] };
};
const budget = parse(read('deploy/kubernetes/pod-disruption-budget.yaml')) as {
  spec: { selector: { matchLabels: object } };
};
const compose = parse(read('compose.yaml')) as {
  services: Record<string, { stop_grace_period: string }>;
};
const manifest = JSON.parse(read('package.json')) as {
  files: string[];
  dependencies: Record<string, string>;
  engines: { node: string };
  version: string;
};
const lock = JSON.parse(read('package-lock.json')) as {
  packages: Record<string, { engines: { node: string } }>;
};

/** The relative links of the pages of the package, as paths in it. */
function linkedFiles(): string[] {
  const pages = ['README.md', ...manifest.files.filter((file) => file.endsWith('.md'))];
  for (const name of readdirSync('docs', { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.md')) pages.push(join('docs', name));
  return pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)].map(([, target]) =>
      normalize(join(dirname(page), target!)),
    ),
  );
}

/**
 * npm packs some files by itself. What only a clone has is named by pages for those who change it.
 */
const isPacked = (file: string) =>
  /^(?:README\.md|LICENSE|package\.json)$/.test(file) ||
  /^(?:src|test|bench|scripts|\.ci|compose\.yaml|Dockerfile)(?:\/|$)/.test(file) ||
  manifest.files.some((each) => file === each || file.startsWith(`${each}/`));

const seconds = (text: string) => Number(/^(\d+)s?$/.exec(text)?.[1]);

const AGREEMENTS: Readonly<Record<string, () => unknown>> = {
  'readiness on the HTTP port decides whether a pod gets requests': () =>
    expect(probed(container.readinessProbe)).to.equal('/health/ready http'),
  'liveness on the admin port decides whether a pod is restarted': () =>
    expect(probed(container.livenessProbe)).to.equal('/health/live admin'),
  'liveness on the admin port decides whether a pod has started': () =>
    expect(probed(container.startupProbe)).to.equal('/health/live admin'),
  'the pod has the same port as the image': () =>
    expect(portOf('http')).to.equal(Number(found('Dockerfile', /\bPORT=(\d+)/))),
  'the image exposes its port': () =>
    expect(found('Dockerfile', /^EXPOSE (\d+)$/m)).to.equal(found('Dockerfile', /\bPORT=(\d+)/)),
  'the admin port of the pod equals its ADMIN_PORT': () =>
    expect(portOf('admin')).to.equal(setting('ADMIN_PORT')),
  'the pod runs as the user of the image': () =>
    expect(template.spec.securityContext.runAsUser).to.equal(
      Number(found('Dockerfile', /^USER (\d+):/m)),
    ),
  'the grace period of the pod is longer than its drain': () =>
    expect(1000 * template.spec.terminationGracePeriodSeconds).to.be.above(
      setting('SHUTDOWN_TIMEOUT_MS'),
    ),
  'a failing probe of the pod is noticed within its SHUTDOWN_NOTICE_MS': () =>
    expect(
      1000 * container.readinessProbe.periodSeconds * container.readinessProbe.failureThreshold,
    ).to.be.at.most(setting('SHUTDOWN_NOTICE_MS')),
  'the Service selects the pods': () =>
    expect([
      service.spec.selector,
      service.spec.ports.map(({ targetPort }) => targetPort),
    ]).to.deep.equal([template.metadata.labels, ['http']]),
  'the disruption budget selects the pods': () =>
    expect(budget.spec.selector.matchLabels).to.deep.equal(template.metadata.labels),
  'the image tag for Kubernetes is the version of the package': () =>
    expect(found('deploy/kubernetes/kustomization.yaml', /newTag: (\S+)/)).to.equal(
      manifest.version,
    ),
  'the grace period of compose is longer than the drain': () =>
    expect(1000 * seconds(compose.services['plants']!.stop_grace_period)).to.be.above(
      defaultOf('SHUTDOWN_TIMEOUT_MS'),
    ),
  'the grace period of systemd is longer than the drain': () =>
    expect(
      1000 * Number(found('deploy/systemd/plant-store.service', /^TimeoutStopSec=(\d+)$/m)),
    ).to.be.above(defaultOf('SHUTDOWN_TIMEOUT_MS')),
  'systemd allows more open files than connections': () =>
    expect(Number(found('deploy/systemd/plant-store.service', /^LimitNOFILE=(\d+)$/m))).to.be.above(
      defaultOf('MAX_CONNECTIONS') + 128,
    ),
  'HAProxy checks readiness': () =>
    expect(found('deploy/haproxy.cfg', /option httpchk GET (\S+)/)).to.equal('/health/ready'),
  'HAProxy notices a failing check within a second': () =>
    expect(
      Number(found('deploy/haproxy.cfg', /check inter (\d+)ms/)) *
        Number(found('deploy/haproxy.cfg', /\bfall (\d+)/)),
    ).to.be.at.most(1000),
  'HAProxy connects to the port of the image': () =>
    expect(found('deploy/haproxy.cfg', /server-template \S+ \d+ \w+:(\d+)/)).to.equal(
      found('Dockerfile', /\bPORT=(\d+)/),
    ),
  'HAProxy opens fewer connections than an instance accepts': () =>
    expect(Number(found('deploy/haproxy.cfg', /default-server maxconn (\d+)/)) + 1).to.be.at.most(
      defaultOf('MAX_CONNECTIONS'),
    ),
  'HAProxy waits longer than a request waits for the store': () =>
    expect(1000 * Number(found('deploy/haproxy.cfg', /timeout server (\d+)s/))).to.be.above(
      defaultOf('STORE_TIMEOUT_MS'),
    ),
  'Redis writes to its disk before it acknowledges a write': () =>
    expect(
      read('deploy/redis/redis.conf').match(/^(?:appendonly|appendfsync|maxmemory-policy) .*$/gm),
    ).to.deep.equal(['appendonly yes', 'appendfsync always', 'maxmemory-policy noeviction']),
  'the build contains the files of Swagger UI that are served': () =>
    expect(
      [...read('src/adapters/http/routes/meta.ts').matchAll(/published\('([^']+)'\)/g)]
        .map(([, file]) => file)
        .filter(
          (file) =>
            !found('scripts/build.sh', /^for file in (.*);/m)
              .split(' ')
              .includes(file!),
        ),
    ).to.deep.equal([]),
  'the package contains each file that its pages link to': () =>
    expect(linkedFiles().filter((file) => !existsSync(file) || !isPacked(file))).to.deep.equal([]),
  'the package contains the build, the files of deployment, the pages and the start script': () =>
    expect(manifest.files).to.include.members(['dist', 'deploy', 'docs', 'scripts/run.sh']),
  'the threshold of PlantStoreSlow is the bound of a bucket, because Prometheus guesses in between':
    () =>
      expect(read('src/adapters/metrics/index.ts').match(/(?<=[[ ])[\d.]+(?=[\],])/g)).to.include(
        found('deploy/prometheus/alerts.yaml', /histogram_quantile[^>]*\)\) > ([\d.]+)/),
      ),
  'the page of the HTTP interface lists the number of each failure': () =>
    expect([
      ...new Set(
        [...read(HTTP_PAGE).matchAll(/^\| \d{3} \| ([\d, ]+) \|/gm)].flatMap(([, numbers]) =>
          numbers!.split(', ').map(Number),
        ),
      ),
    ]).to.have.members(Object.values(FAILURES).map(({ error }) => error)),
  'the page of the HTTP interface lists each operation of a user': () =>
    expect(read(HTTP_PAGE).match(/(?<=`)[A-Z]+ \/[^?\s`]*/g)).to.include.members(
      OPERATIONS.filter(({ needsUser }) => needsUser).map(
        ({ method, path }) => `${method.toUpperCase()} ${path}`,
      ),
    ),
  'the package depends on the libraries that decision record 4 calls given': () =>
    expect(Object.keys(manifest.dependencies)).to.include.members(
      found('docs/decisions/0004-dependencies.md', /^\*\*(.*) are given\*\*/m).split(/, | and /),
    ),
  'the lock file allows the same Node versions as the package': () =>
    expect(lock.packages['']!.engines.node).to.equal(manifest.engines.node),
  'README names the oldest Node version of each release line': () =>
    expect(
      found('README.md', /; Node (\d[^;]*),/)
        .match(/\d+(?:\.\d+)?/g)!
        .slice(0, 3),
    ).to.deep.equal(manifest.engines.node.match(/\d+(?:\.\d+)?/g)),
};

describe('The files of deployment, package, build and pages agree:', () => {
  for (const [what, expectIt] of Object.entries(AGREEMENTS)) it(what, () => void expectIt());
});
