import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { describePrograms } from '../support/programs';
import { alerts } from './rules';

const promtool = (...args: string[]) => promisify(execFile)('promtool', args);
const DIRECTORY = 'deploy/prometheus';

describePrograms({ promtool: 'prometheus' }, 'The rules of Prometheus', () => {
  it('fire in time, alone, and clear', () => promtool('test', 'rules', join(DIRECTORY, 'rules.test.yaml')));

  it('are part of a valid configuration', () =>
    promtool('check', 'config', join(DIRECTORY, 'prometheus.yaml')));

  it('are each tested', () => {
    const tests = readFileSync(join(DIRECTORY, 'rules.test.yaml'), 'utf8');
    for (const { alert } of alerts()) expect(tests).to.contain(`alertname="${alert}"`);
  });

  it('say what happens and what to do', () => {
    for (const { labels, annotations } of alerts()) {
      expect(labels.severity).to.match(/^(?:page|ticket)$/);
      expect(annotations).to.have.all.keys('summary', 'description');
    }
  });
});
