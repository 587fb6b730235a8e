import { expect } from 'chai';
import { TIMEOUT_MS, OneAggregate } from './one-aggregate';
import { created, deleted } from './labels';

describe('The observer of an aggregate', () => {
  it('is notified of each round with its requests and store calls', async () => {
    const fixture = new OneAggregate();
    fixture.list();
    fixture.list();
    fixture.delete(1);
    await fixture.store.sole.answer();
    await fixture.store.sole.answer();

    expect(fixture.observed).to.deep.equal([
      'round: 1 requests, 1 store calls',
      'round: 2 requests, 1 store calls',
    ]);
  });

  it('is notified of the number of appended events', async () => {
    const fixture = new OneAggregate();
    fixture.list();
    fixture.create(1, 'Fern');
    fixture.create(2, 'Ivy');
    fixture.create(2, 'Moss');
    await fixture.store.sole.answer();
    await fixture.store.sole.answer();

    expect(fixture.observed.slice(1)).to.deep.equal(['appended 2', 'round: 3 requests, 1 store calls']);
  });

  it('is notified of a conflict, and its store calls are counted', async () => {
    const fixture = new OneAggregate({ pageSize: 1 });
    await fixture.recordByOthers(created(4, 'Rose'));
    await fixture.catchUp();
    fixture.create(3, 'Fern');
    await fixture.recordByOthers(created(1, 'Ivy'), created(2, 'Moss'));
    fixture.store.held = false;
    await fixture.store.sole.answer();

    expect(fixture.observed.slice(1)).to.deep.equal([
      'conflict',
      'appended 1',
      'round: 1 requests, 3 store calls',
    ]);
  });

  it('is not notified of a conflict when a command is the first to load the history', async () => {
    const fixture = new OneAggregate();
    await fixture.recordByOthers(created(1, 'Ivy'));
    fixture.store.held = false;
    fixture.create(3, 'Fern');
    await fixture.clock.pass(0);

    expect(fixture.observed).to.deep.equal(['appended 1', 'round: 1 requests, 2 store calls']);
  });

  it('is notified of a retried append as one append with several store calls', async () => {
    const fixture = new OneAggregate();
    fixture.create(1, 'Fern');
    await fixture.store.sole.loseReply();
    await fixture.clock.pass(10);
    await fixture.store.sole.lose();
    await fixture.clock.pass(20);
    await fixture.store.sole.answer();

    expect(fixture.observed).to.deep.equal(['appended 1', 'round: 1 requests, 3 store calls']);
  });

  it('is notified once of a lost history, with the lost version', async () => {
    const fixture = await OneAggregate.loadedWith(created(1, 'Fern'), created(2, 'Ivy'));
    await fixture.store.loseTail('ada', 0);
    await fixture.catchUp();

    expect(fixture.observed).to.deep.equal(['ada lost version 2', 'round: 1 requests, 2 store calls']);
  });

  it('is notified of the progress of a load after every 100,000 events', async () => {
    const progress: string[] = [];
    const loading = (stream: string, version: number) => void progress.push(`${stream} ${version}`);
    const fixture = new OneAggregate({ pageSize: 30_000, observer: { loading } });
    const events = Array.from({ length: 50_000 }, (_, i) => (i % 2 === 0 ? created(1, 'Fern') : deleted(1)));
    for (let part = 0; part < 5; part++) await fixture.store.recordCommit('ada', ...events);

    expect((await fixture.catchUp()).outcome).to.deep.equal([]);
    expect(progress).to.deep.equal(['ada 120000', 'ada 210000']);
  });

  it('is notified of the error of a failed round', async () => {
    const fixture = new OneAggregate();
    fixture.list();
    await fixture.store.sole.refuse();
    fixture.list();
    await fixture.store.sole.failWithBug();
    await fixture.catchUp();
    fixture.observed.pop();
    fixture.list();
    fixture.store.sole.hang();
    await fixture.clock.pass(TIMEOUT_MS);
    fixture.create(1, 'Fern');
    fixture.store.sole.hang();
    await fixture.clock.pass(TIMEOUT_MS);

    expect(fixture.observed).to.deep.equal([
      'ada: StoreUnavailable',
      'round: 1 requests, 1 store calls',
      'ada: TypeError',
      'round: 1 requests, 1 store calls',
      'ada: StoreUnavailable',
      'round: 1 requests, 1 store calls',
      'ada: OutcomeUnknown',
      'round: 1 requests, 1 store calls',
    ]);
  });

  it('is notified of the cause of a fault, for the log', async () => {
    const faults: Error[] = [];
    const fault = (_: string, error: unknown) => void faults.push(error as Error);
    const slow = new OneAggregate({ observer: { fault } });
    slow.list();
    slow.store.sole.hang();
    await slow.clock.pass(TIMEOUT_MS);
    expect(faults[0]?.message).to.equal('the event store did not answer in time');

    const broken = new OneAggregate({ observer: { fault } });
    await broken.recordByOthers(deleted(1));
    expect((await broken.catchUp()).outcome).to.equal('UnreadableHistory');
    expect(faults[1]?.cause).to.be.instanceOf(Error).with.property('message', faults[1]?.message);
  });
});
