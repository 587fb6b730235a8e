import { expect } from 'chai';
import { ReplyError } from 'ioredis';
import { appendFault, readFault } from '../../../src/adapters/redis/faults';
import { OutcomeUnknown, StoreUnavailable, UnreadableHistory } from '../../../src/application';

/** What Redis answers instead of running a script, or before its first write. */
const REFUSALS = [
  "OOM command not allowed when used memory > 'maxmemory'.",
  'MISCONF Redis is configured to save RDB snapshots, but it is currently not able to persist on disk.',
  "READONLY You can't write against a read only replica.",
  'NOREPLICAS Not enough good replicas to write.',
  'LOADING Redis is loading the dataset in memory',
  'BUSY Redis is busy running a script.',
  'NOSCRIPT No matching script. Please use EVAL.',
  'CLUSTERDOWN Hash slot not served',
  'NOPERM this user has no permissions to run the evalsha command',
  'NOAUTH Authentication required.',
  'ERR The ID specified in XADD is equal or smaller than the target stream top item',
];
/** What ioredis says of a command that it did not send. */
const NEVER_SENT = [
  "Stream isn't writeable and enableOfflineQueue options is false",
  "Cluster isn't ready and enableOfflineQueue options is false",
];
/** What ioredis says of a command that was on its way. */
const LOST = [
  new Error('Command timed out'),
  new Error('Connection is closed.'),
  new Error('Socket timeout. Expecting data, but didn’t receive any in 2000ms.'),
  new Error('Command aborted due to connection close'),
  new Error('Too many Cluster redirections. Last error: ReplyError: MOVED 1 127.0.0.1:1'),
  new TypeError('a bug somewhere'),
  'not even an error',
];

function replyError(message: string): Error {
  return new (ReplyError as unknown as new (message: string) => Error)(message);
}

describe('An append that failed', () => {
  for (const message of REFUSALS) {
    it(`by the answer ${message.split(' ')[0]!} has changed nothing`, () => {
      expect(appendFault(replyError(message))).to.be.an.instanceOf(StoreUnavailable);
    });
  }

  for (const message of NEVER_SENT) {
    it(`since “${message}” has changed nothing`, () => {
      expect(appendFault(new Error(message))).to.be.an.instanceOf(StoreUnavailable);
    });
  }

  for (const error of LOST) {
    it(`by “${String(error)}” has an unknown outcome`, () => {
      expect(appendFault(error)).to.be.an.instanceOf(OutcomeUnknown).and.to.have.property('cause', error);
    });
  }

  it('and was judged before keeps its judgement', () => {
    for (const error of [
      new OutcomeUnknown('unknown'),
      new StoreUnavailable('away'),
      new UnreadableHistory(),
    ]) {
      expect(appendFault(error)).to.equal(error);
    }
  });
});

describe('A read that failed', () => {
  it('has changed nothing, however it failed', () => {
    for (const error of [...LOST, ...[...NEVER_SENT, ...REFUSALS].map(replyError)]) {
      expect(readFault(error)).to.be.an.instanceOf(StoreUnavailable).and.to.have.property('cause', error);
    }
  });

  it('for an unreadable history stays that', () => {
    const error = new UnreadableHistory('entry 7-0 holds no PlantMoved that this version knows');
    expect(readFault(error)).to.equal(error);
  });
});
