/**
 * The manifests as kubectl renders them, against the schemas of Kubernetes and of the Prometheus operator. Needs kubectl
 * (scripts/kubectl.sh) and the registry: `npm run test:package`.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import * as ts from 'typescript';
import { parse, parseAllDocuments } from 'yaml';
import { describePrograms } from '../support/programs';

/** The schemas of Kubernetes 1.34, as types and as validators, and of the operator. */
const SCHEMAS = ['kubernetes-models@5.1.0', '@kubernetes-models/prometheus-operator@6.0.0'];

interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  spec?: Record<string, unknown>;
  readonly data?: Readonly<Record<string, string>>;
}

describePrograms(
  { kubectl: 'kubernetes-client, or scripts/kubectl.sh' },
  'The rendered manifests',
  function () {
    this.timeout(240_000);
    const directory = mkdtempSync(join(tmpdir(), 'plant-store-manifests-'));
    const path = (name: string) => join(directory, name);
    after(() => rmSync(directory, { recursive: true }));
    let rendered: Readonly<Record<string, readonly KubernetesObject[]>>;

    before(() => {
      cpSync('deploy', path('deploy'), { recursive: true });
      const file = path('deploy/kubernetes/kustomization.yaml');
      // With all components.
      writeFileSync(file, readFileSync(file, 'utf8').replace(/^# ((?:components:| +-| {2}#).*)$/gm, '$1'));
      expect(parse(readFileSync(file, 'utf8')))
        .to.have.property('components')
        .with.length(3);
      mkdirSync(path('schemas'));
      const install = ['install', '--silent', '--ignore-scripts', '--prefix', path('schemas'), ...SCHEMAS];
      execFileSync('npm', install, { stdio: 'pipe' });
      rendered = Object.fromEntries(['.', 'redis', 'backup'].map((folder) => [folder, render(folder)]));
    });

    function render(folder: string): readonly KubernetesObject[] {
      const text = execFileSync('kubectl', ['kustomize', path(join('deploy/kubernetes', folder))]);
      return parseAllDocuments(text.toString()).map((document) => document.toJS() as KubernetesObject);
    }

    const all = () => [
      ...Object.values(rendered).flat(),
      parse(readFileSync('deploy/kubernetes/backup/restore-job.yaml', 'utf8')) as KubernetesObject,
    ];
    const find = (folder: string, kind: string, name = 'plant-store') =>
      rendered[folder]!.find((each) => each.kind === kind && each.metadata.name === name)!;

    /** What the types and the validators of the schemas refuse. */
    function violations(objects: readonly KubernetesObject[]): string {
      const models = objects.map(({ apiVersion, kind }) => {
        const operator = apiVersion.startsWith('monitoring.coreos.com');
        const name = operator ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models';
        return { kind, from: `${name}/${apiVersion}` };
      });
      const sources = objects.map((object, i) => {
        const { kind, from } = models[i]!;
        const file = path(join('schemas', `${i}.ts`));
        const source = `import type { I${kind} } from '${from}';\nexport const checked: I${kind} = ${JSON.stringify(object)};\n`;
        writeFileSync(file, source);
        return file;
      });
      const validate = models.map(
        ({ kind, from }, i) =>
          `import * as m${i} from '${from}/${kind}';\ntry { new m${i}.${kind}(objects[${i}]).validate(); } catch (error) { console.log(String(error)); }\n`,
      );
      writeFileSync(
        path('schemas/validate.mjs'),
        `const objects = ${JSON.stringify(objects)};\n${validate.join('')}`,
      );
      const invalid = execFileSync('node', [path('schemas/validate.mjs')]).toString();
      return [...compilerErrors(sources), invalid].join('\n').trim();
    }

    it('are valid, without unknown members', () => {
      expect(all().map(({ kind }) => kind)).to.include.members([
        ...['Deployment', 'StatefulSet', 'CronJob', 'Job', 'Ingress'],
        ...['ServiceMonitor', 'PrometheusRule', 'ConfigMap'],
      ]);
      expect(violations(all())).to.equal('');
    });

    for (const [folder, kind, wrong, message] of [
      [
        '.',
        'PodDisruptionBudget',
        { unhealthyPodEvictionPolicies: 'AlwaysAllow' },
        'unhealthyPodEvictionPolicies',
      ],
      ['.', 'PodDisruptionBudget', { unhealthyPodEvictionPolicy: 'Always' }, '"Always"'],
      ['.', 'ServiceMonitor', { endpoint: [] }, '\'"endpoint"\' does not exist'],
      [
        '.',
        'PrometheusRule',
        { groups: [{ name: 'a', rules: [{ expr: 'up', fro: '5m' }] }] },
        '\'"fro"\' does not exist',
      ],
      [
        '.',
        'PrometheusRule',
        { groups: [{ name: 'a', rules: [{ alert: 'A' }] }] },
        'Property \'"expr"\' is missing',
      ],
    ] as const)
      it(`would not be with ${JSON.stringify(wrong)} in the ${kind}`, () => {
        const object = structuredClone(find(folder, kind));
        Object.assign(object.spec!, wrong);
        expect(violations([object])).to.contain(message);
      });

    it('have the alerts and the dashboard of deploy/prometheus and deploy/grafana', () => {
      const { groups } = parse(readFileSync('deploy/prometheus/rules.yaml', 'utf8')) as { groups: unknown };
      expect(find('.', 'PrometheusRule').spec).to.deep.equal({ groups });
      expect(find('.', 'ConfigMap', 'plant-store-dashboard').data).to.deep.equal({
        'plant-store.json': readFileSync('deploy/grafana/plant-store.json', 'utf8'),
      });
    });

    it('have start.sh under a name of its content, so that a change restarts Redis', () => {
      const [start] = rendered['redis']!.filter(({ kind }) => kind === 'ConfigMap');
      expect(start!.data).to.deep.equal({ 'start.sh': readFileSync('deploy/redis/start.sh', 'utf8') });
      expect(start!.metadata.name).to.match(/^plant-store-redis-start-\w+$/);
      const set = JSON.stringify(find('redis', 'StatefulSet', 'plant-store-redis'));
      expect(set).to.contain(`"configMap":{"name":"${start!.metadata.name}"}`);
    });
  },
);

function compilerErrors(files: readonly string[]): string[] {
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    types: [],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  return ts
    .getPreEmitDiagnostics(ts.createProgram(files, options))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
