import { expect } from 'chai';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { type EventStore, OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing';
import { type RunningService, bootstrap } from '../../../src/service/bootstrap';
import { readConfig } from '../../../src/service/config';
import { HttpClient } from '../../support/client';
import { notedLog } from '../../support/suite-log';

/** A memory store whose next calls fail with the given error. */
class FailingStore extends MemoryEventStore {
  failure: (() => Error) | undefined;

  override read(...args: Parameters<EventStore['read']>): ReturnType<EventStore['read']> {
    return this.failure ? Promise.reject(this.failure()) : super.read(...args);
  }

  override append(...args: Parameters<EventStore['append']>): ReturnType<EventStore['append']> {
    return this.failure ? Promise.reject(this.failure()) : super.append(...args);
  }
}

describe('The service, while the event store fails,', () => {
  const store = new FailingStore();
  const SECRET = 'secret of the store';
  let service: RunningService;
  let user: HttpClient;

  before(async () => {
    const environment = {
      PORT: '0',
      AUTH_TOKENS: 'alice:token-1',
      STORE_TIMEOUT_MS: '1000',
    };
    service = await bootstrap(readConfig(environment).config!, { eventStore: store, log: notedLog() });
    user = new HttpClient(service.url, 'alice', 'token-1');
    await user.plants([1, 'Fern']);
  });
  after(() => service.stop());
  afterEach(async () => {
    store.failure = undefined;
    expect(await user.names(), 'serves again').to.deep.equal(['Fern']);
  });

  it('answers 503/50300 to reads, writes and rejections if nothing was written', async () => {
    store.failure = () => new StoreUnavailable(SECRET);
    for (const ask of [
      user.get('/plants'),
      user.post({ id: 2, name: 'Moss' }),
      user.post({ id: 1, name: 'x' }),
      user.delete(1),
    ]) {
      const { status, error, text } = await ask;
      expect({ status, error }).to.deep.equal({ status: 503, error: 50300 });
      expect(text).not.to.contain(SECRET);
    }
  });

  it('answers 503/50301 to a write whose outcome is unknown, and 50300 to a read', async () => {
    store.failure = () => new OutcomeUnknown(SECRET);
    const [write, read] = await Promise.all([user.post({ id: 2, name: 'Moss' }), user.get('/plants')]);
    expect(write).to.include({ status: 503, error: 50301 });
    expect(read).to.include({ status: 503, error: 50300 });
  });

  it('answers 500/50000 to a bug, without its details', async () => {
    store.failure = () => new TypeError(SECRET);
    const { status, error, text } = await user.get('/plants');
    expect({ status, error }).to.deep.equal({ status: 500, error: 50000 });
    expect(text).not.to.contain(SECRET).and.not.to.contain('TypeError');
  });
});
