import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import type { PlantEvent } from '../../src/domain';
import { replay } from '../../src/event-sourcing';
import { streamName } from '../../src/testing/a-stream';
import { created } from '../support/given';
import { ScriptedStore } from '../support/scripted-store';

describe('A replay', () => {
  it('handles the rejection of a prefetched page when its caller has stopped', async () => {
    const store = new ScriptedStore(() => new MemoryEventStore<PlantEvent>(1));
    await store.record('ada', created(1, 'Fern'), created(2, 'Ivy'));
    const pages = replay(store, streamName('ada'));
    const first = pages.next();
    await store.sole.answer();
    expect((await first).value).to.have.length(1);
    await pages.return(undefined);

    // An unhandled rejection fails the test.
    await store.sole.lose();
  });
});
