import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Deployment } from 'kubernetes-types/apps/v1';
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2';
import type { CronJob, Job } from 'kubernetes-types/batch/v1';
import type { Container, Service } from 'kubernetes-types/core/v1';
import type { NetworkPolicy } from 'kubernetes-types/networking/v1';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1';
import { parse } from 'yaml';
import { readConfig } from '../../src/service/config';
import { blocks } from '../docs/blocks';

const FOLDER = 'deploy/kubernetes';
const LABELS = { 'app.kubernetes.io/name': 'plant-store' };

interface Kustomization {
  readonly resources: readonly string[];
  readonly images: readonly {
    readonly name: string;
    readonly newName: string;
    readonly newTag: string;
    readonly digest?: string;
  }[];
}

interface ServiceMonitor {
  readonly spec: {
    readonly selector: { readonly matchLabels: object };
    readonly endpoints: readonly { readonly targetPort: string; readonly path: string }[];
  };
}

function manifest(path: string): unknown {
  return parse(readFileSync(join(FOLDER, path), 'utf8'));
}

describe('The Kubernetes manifests', () => {
  const kustomization = manifest('kustomization.yaml') as Kustomization;
  const backup = manifest('backup/kustomization.yaml') as Kustomization;
  const { spec } = manifest('deployment.yaml') as Deployment;
  const pod = spec!.template.spec!;
  const [container] = pod.containers;
  const [inCronJob] = (manifest('backup/cron-job.yaml') as CronJob).spec!.jobTemplate.spec!.template.spec!
    .containers as [Container];
  const [inRestoreJob] = (manifest('backup/restore-job.yaml') as Job).spec!.template.spec!.containers as [
    Container,
  ];
  const dockerfile = readFileSync('Dockerfile', 'utf8');
  const environment = Object.fromEntries(
    container!.env!.map(({ name, value, valueFrom }) => [
      name,
      value ?? (valueFrom!.secretKeyRef!.key === 'url' ? 'redis://redis:6379' : ''),
    ]),
  );
  const production = { NODE_ENV: 'production', HOST: '0.0.0.0', ...environment };
  const { config, problems } = readConfig(production);

  it('configure the service without problems, as in production', () => {
    expect(problems).to.equal(undefined);
    expect(config).to.include({ EVENT_STORE: 'redis', AUTH_TOKENS_FILE: '/etc/plant-store/tokens.json' });
  });

  it('give a pod more time to end than the service takes to drain', () => {
    expect(1000 * pod.terminationGracePeriodSeconds!).to.be.above(config!.SHUTDOWN_TIMEOUT_MS);
    expect(config!.SHUTDOWN_NOTICE_MS).to.be.at.most(config!.SHUTDOWN_TIMEOUT_MS / 2);
  });

  it('notice that a pod drains while it still accepts connections', () => {
    const { periodSeconds, failureThreshold } = container!.readinessProbe!;
    expect(1000 * periodSeconds! * failureThreshold!).to.be.below(config!.SHUTDOWN_NOTICE_MS!);
  });

  it('have the ports of the image and of ADMIN_PORT', () => {
    expect(container!.ports).to.deep.equal([
      { name: 'http', containerPort: config!.PORT },
      { name: 'admin', containerPort: config!.ADMIN_PORT },
    ]);
    expect(dockerfile).to.match(new RegExp(` PORT=${config!.PORT}$`, 'm'));
  });

  it('send requests to the port http, and admit the ingress to no other', () => {
    const { ports, selector } = (manifest('service.yaml') as Service).spec!;
    expect(selector).to.deep.equal(LABELS);
    expect(ports!.map(({ name, targetPort }) => [name, targetPort])).to.deep.equal([['http', 'http']]);
    expect(portsAdmittedBy('network-policy.yaml')).to.deep.equal(['http']);
    expect(container!.readinessProbe!.httpGet!.port).to.equal('http');
  });

  it('restart and observe a pod by the admin port, which has connections of its own', () => {
    expect(container!.startupProbe!.httpGet!.port).to.equal('admin');
    expect(container!.livenessProbe!.httpGet!.port).to.equal('admin');
    expect(portsAdmittedBy('monitoring/network-policy.yaml')).to.deep.equal(['admin']);
    const monitor = (manifest('monitoring/service-monitor.yaml') as ServiceMonitor).spec;
    expect(monitor.endpoints).to.have.length(1);
    expect(monitor.endpoints[0]).to.include({ targetPort: 'admin', path: '/metrics' });
    expect(monitor.selector.matchLabels).to.deep.equal(
      (manifest('service.yaml') as Service).metadata!.labels,
    );
  });

  it('restart a pod that is not live, and send requests to one that is ready', () => {
    expect(container!.startupProbe!.httpGet!.path).to.equal('/health/live');
    expect(container!.livenessProbe!.httpGet!.path).to.equal('/health/live');
    expect(container!.readinessProbe!.httpGet!.path).to.equal('/health/ready');
  });

  it('run the service as the user of the image, without rights and on a read-only file system', () => {
    const [, user, group] = /^USER (\d+):(\d+)$/m.exec(dockerfile)!;
    expect(pod.securityContext).to.deep.equal({
      runAsNonRoot: true,
      runAsUser: Number(user),
      runAsGroup: Number(group),
      fsGroup: Number(group),
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container!.securityContext).to.deep.equal({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('run Redis and its tasks without rights, too', () => {
    const { jobTemplate } = (manifest('backup/cron-job.yaml') as CronJob).spec!;
    const others = [
      (manifest('redis/stateful-set.yaml') as Deployment).spec!.template.spec!,
      (manifest('backup/restore-job.yaml') as Job).spec!.template.spec!,
      jobTemplate.spec!.template.spec!,
    ];
    for (const other of others) {
      const { securityContext, automountServiceAccountToken, enableServiceLinks } = other;
      expect(securityContext).to.deep.include({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect({ automountServiceAccountToken, enableServiceLinks }).to.deep.equal({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
      });
      for (const each of other.containers)
        expect(each.securityContext).to.deep.equal(container!.securityContext);
    }
  });

  it('mount the token file as a directory of a secret that only the service can read', () => {
    const [mount] = container!.volumeMounts!;
    const volume = pod.volumes!.find(({ name }) => name === mount!.name)!;
    expect(mount!.mountPath).to.equal(dirname(config!.AUTH_TOKENS_FILE!));
    expect(mount).to.not.have.property('subPath');
    expect(volume.secret).to.deep.equal({ secretName: 'plant-store-tokens', defaultMode: 0o440 });
  });

  it('select the same pods in all files', () => {
    expect(spec!.template.metadata!.labels).to.deep.equal(LABELS);
    expect(spec!.selector.matchLabels).to.deep.equal(LABELS);
    const budget = (manifest('pod-disruption-budget.yaml') as PodDisruptionBudget).spec!;
    expect(budget.selector!.matchLabels).to.deep.equal(LABELS);
    for (const file of ['network-policy.yaml', 'monitoring/network-policy.yaml'])
      expect((manifest(file) as NetworkPolicy).spec!.podSelector.matchLabels).to.deep.equal(LABELS);
  });

  it('connect the service and the backup to DNS and to Redis only, and with the component also to the issuer', () => {
    const dns = [{ kubernetes: 'kube-system' }, 53, 53];
    for (const file of ['network-policy.yaml', 'backup/network-policy.yaml'])
      expect(egressOf(file), file).to.deep.equal([dns, [{ pods: 'plant-store-redis' }, 6379]]);
    expect(egressOf('issuer/network-policy.yaml')).to.deep.equal([[{ cidr: '192.0.2.0/24' }, 443]]);
    expect(egressOf('redis/network-policy.yaml')).to.deep.equal([]);
    const { env } = (manifest('issuer/deployment.yaml') as Deployment).spec!.template.spec!.containers[0]!;
    const ofIssuer = Object.fromEntries(env!.map(({ name, value }) => [name, value!]));
    expect(readConfig({ ...production, ...ofIssuer }).problems).to.equal(undefined);
  });

  it('spread the pods over zones and nodes, without those that an update replaces', () => {
    expect(pod.topologySpreadConstraints!.map(({ topologyKey }) => topologyKey)).to.deep.equal([
      'topology.kubernetes.io/zone',
      'kubernetes.io/hostname',
    ]);
    for (const constraint of pod.topologySpreadConstraints!)
      expect(constraint).to.deep.include({
        labelSelector: { matchLabels: LABELS },
        matchLabelKeys: ['pod-template-hash'],
        whenUnsatisfiable: 'ScheduleAnyway',
      });
  });

  it('keep an instance through updates and evictions, and evict pods that are not ready', () => {
    const { scaleTargetRef, minReplicas } = (
      manifest('horizontal-pod-autoscaler.yaml') as HorizontalPodAutoscaler
    ).spec!;
    const budget = (manifest('pod-disruption-budget.yaml') as PodDisruptionBudget).spec!;
    expect(scaleTargetRef.name).to.equal((manifest('deployment.yaml') as Deployment).metadata!.name);
    expect(minReplicas).to.be.above(Number(budget.maxUnavailable));
    expect(budget.unhealthyPodEvictionPolicy).to.equal('AlwaysAllow');
    expect(spec!.strategy!.rollingUpdate).to.deep.equal({ maxUnavailable: 0, maxSurge: 1 });
  });

  it('run the images of the version of the package', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const images = [...kustomization.images, ...backup.images].map(({ name, newTag }) => [name, newTag]);
    expect(images).to.deep.equal([
      [container!.image, version],
      [inCronJob.image, version],
    ]);
    const [{ newName, digest }] = backup.images as [Kustomization['images'][0]];
    expect(inRestoreJob.image).to.equal(`${newName}:${version}${digest === undefined ? '' : `@${digest}`}`);
  });

  it('back up and restore by tasks of redis.sh, with the secret of the page', () => {
    const steps = blocks().find(({ kind }) => kind === 'sh kubernetes backup')!.text;
    const [, secret] = /create secret generic (\S+) /.exec(steps)!;
    const keys = [...steps.matchAll(/--from-literal=([\w-]+)=/g)].map(([, key]) => key);
    for (const { args, env, volumeMounts } of [inCronJob, inRestoreJob]) {
      expect(readFileSync('deploy/redis.sh', 'utf8')).to.contain(`\n${args![0]}() {`);
      const paths = volumeMounts!.map(({ mountPath }) => mountPath);
      for (const path of args!.slice(1)) expect(paths).to.include(`/${path.split('/')[1]!}`);
      for (const { secretKeyRef } of env!.flatMap(({ valueFrom }) => valueFrom ?? [])) {
        expect(secretKeyRef!.name).to.equal(secret);
        expect(keys).to.include(secretKeyRef!.key);
      }
    }
    expect(steps).to.contain(`kubectl apply -k ${FOLDER}/backup`);
  });
});

/** The destinations that a policy allows, each with its ports. */
function egressOf(file: string): unknown[] {
  const { egress = [] } = (manifest(file) as NetworkPolicy).spec!;
  return egress.map(({ to, ports }) => [
    ...to!.map(({ ipBlock, namespaceSelector, podSelector }) => ({
      ...(ipBlock && { cidr: ipBlock.cidr }),
      ...(namespaceSelector && { kubernetes: namespaceSelector.matchLabels!['kubernetes.io/metadata.name'] }),
      ...(podSelector && { pods: podSelector.matchLabels!['app.kubernetes.io/name'] }),
    })),
    ...ports!.map(({ port }) => port),
  ]);
}

function portsAdmittedBy(file: string): unknown[] {
  const { ingress } = (manifest(file) as NetworkPolicy).spec!;
  return ingress!.flatMap(({ ports }) => ports!.map(({ port }) => port));
}
