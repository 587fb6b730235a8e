import { expect } from 'chai';
import { system } from '../../../src/adapters/system';
import { Stream } from '../../../src/testing/a-stream';
import { BEGINNING, type Head, type StreamName, project, streamOf } from '../../../src/event-sourcing';
import { ReadModel, note, textCodec } from '../../event-sourcing/one-projection';
import { describeOwnRedis } from '../../support/redis';
import { openStore } from './open-store';

describeOwnRedis('A projection of a store on Redis', (startRedis) => {
  it('applies what 64 writers append, each event once, with two instances, from the first start on', async () => {
    const { url } = await startRedis('--appendonly', 'no');
    const opened = [await openStore(url), await openStore(url)] as const;
    const streams = Array.from({ length: 64 }, (_, index) => streamOf('notes', String(index)));
    const heads = new Map<StreamName, Head>();
    const append = async (name: StreamName) => {
      const stream = new Stream(opened[0].store, name);
      for (let times = 0; times < 5; times++)
        heads.set(name, await stream.add(heads.get(name) ?? BEGINNING, note(`${times}`), note('and')));
    };
    await Promise.all(streams.slice(0, 32).map(append));
    const model = new ReadModel();
    const projections = opened.map((store) =>
      project<string, string>(store, {
        ...system(),
        codec: textCodec,
        checkpoint: model,
        apply: (batch) => model.transaction(batch),
      }),
    );
    await Promise.all(streams.map(append));

    for (const [stream, head] of heads) expect(await projections[0]!.waitFor(stream, head)).to.equal(true);
    for (const [stream, { version }] of heads) expect(model.of(stream)).to.have.length(version);
    expect([model.violations, projections.flatMap(({ stops }) => stops)]).to.deep.equal([[], []]);
    for (const projection of projections) await projection.close();
    for (const store of opened) await store.close();
  });
});
