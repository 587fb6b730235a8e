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
const above = (least: number) => (value: number) => expect(value).to.be.above(least);
const atMost = (most: number) => (value: number) => expect(value).to.be.at.most(most);
const same = (expected: unknown) => (value: unknown) => expect(value).to.deep.equal(expected);

/** What is found, and what must hold of it. */
const AGREEMENTS: readonly (readonly [
  what: string,
  found: () => unknown,
  mustBe: (value: never) => unknown,
])[] = [
  [
    'a pod gets requests by readiness on their port',
    () => probed(container.readinessProbe),
    same('/health/ready http'),
  ],
  [
    'a pod is restarted by liveness on the admin port',
    () => probed(container.livenessProbe),
    same('/health/live admin'),
  ],
  [
    'a pod has started by liveness on the admin port',
    () => probed(container.startupProbe),
    same('/health/live admin'),
  ],
  [
    'the port of the pod is that of the image',
    () => portOf('http'),
    same(Number(found('Dockerfile', /\bPORT=(\d+)/))),
  ],
  [
    'the port of the image is exposed',
    () => found('Dockerfile', /^EXPOSE (\d+)$/m),
    same(found('Dockerfile', /\bPORT=(\d+)/)),
  ],
  [
    'the admin port of the pod is that of its setting',
    () => portOf('admin'),
    same(setting('ADMIN_PORT')),
  ],
  [
    'the user of the pod is that of the image',
    () => template.spec.securityContext.runAsUser,
    same(Number(found('Dockerfile', /^USER (\d+):/m))),
  ],
  [
    'the grace period of the pod is above its drain',
    () => 1000 * template.spec.terminationGracePeriodSeconds,
    above(setting('SHUTDOWN_TIMEOUT_MS')),
  ],
  [
    'a failing probe of the pod is noticed within its notice',
    () => 1000 * container.readinessProbe.periodSeconds * container.readinessProbe.failureThreshold,
    atMost(setting('SHUTDOWN_NOTICE_MS')),
  ],
  [
    'the Service has the pods',
    () => [service.spec.selector, service.spec.ports.map(({ targetPort }) => targetPort)],
    same([template.metadata.labels, ['http']]),
  ],
  [
    'the disruption budget has the pods',
    () => budget.spec.selector.matchLabels,
    same(template.metadata.labels),
  ],
  [
    'the tag for Kubernetes is the version',
    () => found('deploy/kubernetes/kustomization.yaml', /newTag: (\S+)/),
    same(manifest.version),
  ],
  [
    'the grace period of compose is above the drain',
    () => 1000 * seconds(compose.services['plants']!.stop_grace_period),
    above(defaultOf('SHUTDOWN_TIMEOUT_MS')),
  ],
  [
    'the grace period of systemd is above the drain',
    () => 1000 * Number(found('deploy/systemd/plant-store.service', /^TimeoutStopSec=(\d+)$/m)),
    above(defaultOf('SHUTDOWN_TIMEOUT_MS')),
  ],
  [
    'the open files of systemd are above the connections',
    () => Number(found('deploy/systemd/plant-store.service', /^LimitNOFILE=(\d+)$/m)),
    above(defaultOf('MAX_CONNECTIONS') + 128),
  ],
  [
    'HAProxy checks readiness',
    () => found('deploy/haproxy.cfg', /option httpchk GET (\S+)/),
    same('/health/ready'),
  ],
  [
    'HAProxy notices a failing check within the notice',
    () =>
      Number(found('deploy/haproxy.cfg', /check inter (\d+)ms/)) *
      Number(found('deploy/haproxy.cfg', /\bfall (\d+)/)),
    atMost(1000),
  ],
  [
    'HAProxy connects to the port of the image',
    () => found('deploy/haproxy.cfg', /server-template \S+ \d+ \w+:(\d+)/),
    same(found('Dockerfile', /\bPORT=(\d+)/)),
  ],
  [
    'HAProxy opens fewer connections than an instance accepts',
    () => Number(found('deploy/haproxy.cfg', /default-server maxconn (\d+)/)) + 1,
    atMost(defaultOf('MAX_CONNECTIONS')),
  ],
  [
    'HAProxy waits longer than a request waits for the store',
    () => 1000 * Number(found('deploy/haproxy.cfg', /timeout server (\d+)s/)),
    above(defaultOf('STORE_TIMEOUT_MS')),
  ],
  [
    'a write is on the disk of Redis before it is acknowledged',
    () =>
      read('deploy/redis/redis.conf').match(/^(?:appendonly|appendfsync|maxmemory-policy) .*$/gm),
    same(['appendonly yes', 'appendfsync always', 'maxmemory-policy noeviction']),
  ],
  [
    'the build has the files of Swagger UI that are served',
    () =>
      [...read('src/adapters/http/routes/meta.ts').matchAll(/published\('([^']+)'\)/g)]
        .map(([, file]) => file)
        .filter(
          (file) =>
            !found('scripts/build.sh', /^for file in (.*);/m)
              .split(' ')
              .includes(file!),
        ),
    same([]),
  ],
  [
    'the package has what its pages link to',
    () => linkedFiles().filter((file) => !existsSync(file) || !isPacked(file)),
    same([]),
  ],
  [
    'the package has its build, files of deployment, pages and start',
    () => manifest.files,
    (files) => expect(files).to.include.members(['dist', 'deploy', 'docs', 'scripts/run.sh']),
  ],
  [
    'the time of PlantStoreSlow is the bound of a bucket, between which Prometheus guesses',
    () => found('deploy/prometheus/alerts.yaml', /histogram_quantile[^>]*\)\) > ([\d.]+)/),
    (bound) =>
      expect(read('src/adapters/metrics/index.ts').match(/(?<=[[ ])[\d.]+(?=[\],])/g)).to.include(
        bound,
      ),
  ],
  [
    'the page of the HTTP interface has each failure, whose number no other failure has',
    () => [
      ...new Set(
        [...read(HTTP_PAGE).matchAll(/^\| \d{3} \| ([\d, ]+) \|/gm)].flatMap(([, numbers]) =>
          numbers!.split(', ').map(Number),
        ),
      ),
    ],
    (numbers) => expect(numbers).to.have.members(Object.values(FAILURES).map(({ error }) => error)),
  ],
  [
    'the page of the HTTP interface has each operation of a user',
    () =>
      OPERATIONS.filter(({ needsUser }) => needsUser).map(
        ({ method, path }) => `${method.toUpperCase()} ${path}`,
      ),
    (operations) =>
      expect(read(HTTP_PAGE).match(/(?<=`)[A-Z]+ \/[^?\s`]*/g)).to.include.members(
        operations as string[],
      ),
  ],
  [
    'the package runs on the libraries that were asked for',
    () =>
      found('docs/decisions/0004-dependencies.md', /^\*\*(.*) are given\*\*/m).split(/, | and /),
    (given) => expect(Object.keys(manifest.dependencies)).to.include.members(given as string[]),
  ],
  [
    'the lock file allows the same Node',
    () => lock.packages['']!.engines.node,
    same(manifest.engines.node),
  ],
  [
    'README names the oldest Node of each line',
    () =>
      found('README.md', /; Node (\d[^;]*),/)
        .match(/\d+(?:\.\d+)?/g)!
        .slice(0, 3),
    same(manifest.engines.node.match(/\d+(?:\.\d+)?/g)),
  ],
];

describe('The files of deployment, package, build and pages agree', () => {
  for (const [what, find, mustBe] of AGREEMENTS)
    it(what, () => {
      mustBe(find() as never);
    });
});
