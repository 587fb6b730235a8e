import { expect } from 'chai';
import { ReplyError } from 'ioredis';
import { appendFault, readFault } from '../../../src/adapters/redis/faults';
import { OutcomeUnknown, StoreUnavailable, UnreadableHistory } from '../../../src/event-sourcing';

/** Error replies of Redis to a script before its first write. */
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
/** Errors of ioredis for a command that it did not send. */
const NEVER_SENT = [
  "Stream isn't writeable and enableOfflineQueue options is false",
  "Cluster isn't ready and enableOfflineQueue options is false",
];
/** Errors of ioredis for a command in flight. */
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

describe('A failed append', () => {
  for (const message of REFUSALS) {
    it(`is unavailable after the reply ${message.split(' ')[0]!}`, () => {
      expect(appendFault(replyError(message))).to.be.an.instanceOf(StoreUnavailable);
    });
  }

  for (const message of NEVER_SENT) {
    it(`is unavailable after “${message}”`, () => {
      expect(appendFault(new Error(message))).to.be.an.instanceOf(StoreUnavailable);
    });
  }

  for (const error of LOST) {
    it(`has an unknown outcome after “${String(error)}”`, () => {
      expect(appendFault(error)).to.be.an.instanceOf(OutcomeUnknown).and.to.have.property('cause', error);
    });
  }

  it('keeps a fault of the port', () => {
    for (const error of [
      new OutcomeUnknown('unknown'),
      new StoreUnavailable('away'),
      new UnreadableHistory(),
    ]) {
      expect(appendFault(error)).to.equal(error);
    }
  });
});

describe('A failed read', () => {
  it('is unavailable after any error', () => {
    for (const error of [...LOST, ...[...NEVER_SENT, ...REFUSALS].map(replyError)]) {
      expect(readFault(error)).to.be.an.instanceOf(StoreUnavailable).and.to.have.property('cause', error);
    }
  });

  it('keeps UnreadableHistory', () => {
    const error = new UnreadableHistory('entry 7-0 is not a valid PlantMoved of this version');
    expect(readFault(error)).to.equal(error);
  });
});
