import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { Metrics } from '../../../src/adapters/metrics';
import { FAILURE_REASONS } from '../../../src/adapters/http';
import { streamName } from '../../../src/testing/a-stream';

describe('The metrics', () => {
  const metrics = new Metrics({ methods: ['GET'], failureReasons: FAILURE_REASONS, version: '1.2.3' });
  after(() => metrics.close());

  async function valueOf(series: string): Promise<string | undefined> {
    const lines = (await metrics.text()).split('\n');
    return lines.find((line) => line.startsWith(`${series} `))?.slice(series.length + 1);
  }

  it('are named by the conventions of Prometheus', () => {
    for (const { name, type } of metrics.descriptions) {
      expect(name).to.match(/^(?:http|plant_store)(?:_[a-z]+)+$/);
      expect(name.endsWith('_total'), name).to.equal(type === 'counter');
      expect(name, 'base units').not.to.match(/_(?:ms|milliseconds|kb|kilobytes|percent)(?:_|$)/);
    }
  });

  it('have the versions of the service and of Node', async () => {
    const labels = `version="1.2.3",node="${process.version}"`;
    expect(await valueOf(`plant_store_build_info{${labels}}`)).to.equal('1');
  });

  it('have the time of the newest snapshot that was saved', async () => {
    const name = 'plant_store_snapshot_saved_timestamp_seconds';
    metrics.aggregates.snapshot!(streamName('alice'), 'restored');
    expect(await valueOf(name)).to.equal('0');
    metrics.aggregates.snapshot!(streamName('alice'), 'saved');
    expect(Number(await valueOf(name))).to.be.closeTo(Date.now() / 1000, 60);
  });

  it('count the failed reads of each source of tokens, and have the result of the last one', async () => {
    const values = async () => [
      await valueOf('plant_store_auth_source_up{source="key_set"}'),
      await valueOf('plant_store_auth_source_failures_total{source="key_set"}'),
    ];
    expect(await values()).to.deep.equal([undefined, undefined]);
    metrics.authSourceRead('key_set', true);
    expect(await values()).to.deep.equal(['1', '0']);
    metrics.authSourceRead('key_set', false);
    metrics.authSourceRead('key_set', false);
    expect(await values()).to.deep.equal(['0', '2']);
    metrics.authSourceRead('key_set', true);
    expect(await values()).to.deep.equal(['1', '2']);
  });

  it('have every reason of a failed request from the start on', async () => {
    const page = readFileSync('docs/operations.md', 'utf8');
    const text = await metrics.text();
    const reasons = [...text.matchAll(/^http_request_failures_total\{reason="(\w+)"\} 0$/gm)];
    expect(reasons).to.have.length(FAILURE_REASONS.length);
    for (const [, reason] of reasons) expect(page).to.contain(`\n| \`${reason!}\` | `);
  });
});
