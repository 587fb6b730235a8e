import { expect } from 'chai';
import type { User } from '../../../../src/application';
import { type Transfer, TransferMemory } from '../../../../src/adapters/http/app/transfer-memory';
import { keptOf } from '../many-users';

const [ADA, BOB, CY] = ['ada', 'bob', 'cy'] as User[] as [User, User, User];

describe('The memory of transfers', () => {
  let memory: TransferMemory;
  let abandoned: string[];

  beforeEach(() => {
    memory = new TransferMemory(100, 1);
    abandoned = [];
  });

  function enter(user: User, name: string, bytes: number): Transfer {
    const transfer = { abandon: () => void abandoned.push(name) };
    memory.enter(user, transfer, bytes);
    return transfer;
  }

  it('beyond the bound abandons the oldest transfer of the user with the most bytes', () => {
    enter(BOB, 'b1', 30);
    enter(ADA, 'a1', 20);
    enter(ADA, 'a2', 20);
    enter(ADA, 'a3', 20);
    expect(abandoned).to.deep.equal([]);
    enter(CY, 'c1', 30);
    expect(abandoned).to.deep.equal(['a1']);
    expect([memory.transfers, memory.bytes]).to.deep.equal([4, 100]);
  });

  it('abandons a new transfer if its user has the most', () => {
    enter(ADA, 'a', 40);
    enter(BOB, 'b', 90);
    expect(abandoned).to.deep.equal(['b']);
  });

  it('keeps a single transfer of any length', () => {
    enter(ADA, 'a', 1000);
    expect(abandoned).to.deep.equal([]);
  });

  it('counts what transfers of one user share once, and for as long as one of them holds it', () => {
    const segment = {};
    for (let i = 0; i < 3; i++) memory.hold(ADA, segment, () => 60);
    expect(memory.bytes).to.equal(60);
    memory.hold(BOB, segment, () => 30);
    expect(memory.bytes).to.equal(90);
    for (let i = 0; i < 2; i++) memory.release(ADA, segment);
    expect(memory.bytes).to.equal(90);
    memory.release(ADA, segment);
    memory.release(BOB, segment);
    expect(memory.bytes).to.equal(0);
  });

  it('counts what a user shares as bytes of that user', () => {
    enter(BOB, 'b', 30);
    enter(ADA, 'a', 10);
    memory.hold(ADA, {}, () => 61);
    expect(abandoned).to.deep.equal(['a']);
  });

  it('abandons no user that only shares, and has no transfer', () => {
    memory.hold(ADA, {}, () => 90);
    enter(BOB, 'b1', 5);
    enter(BOB, 'b2', 10);
    expect(abandoned).to.deep.equal(['b1']);
  });

  it('counts a transfer until it leaves, once', () => {
    const transfer = enter(ADA, 'a', 60);
    memory.leave(ADA, transfer);
    memory.leave(ADA, transfer);
    expect([memory.transfers, memory.bytes]).to.deep.equal([0, 0]);
    enter(BOB, 'b', 90);
    expect(abandoned).to.deep.equal([]);
  });

  it('counts more bytes of a transfer until it leaves, and keeps its age', () => {
    const first = enter(ADA, 'a1', 10);
    const second = enter(ADA, 'a2', 20);
    memory.grow(ADA, second, 30);
    memory.grow(ADA, first, 41);
    expect(abandoned).to.deep.equal(['a1']);
    memory.leave(ADA, second);
    memory.grow(ADA, second, 1000);
    expect(memory.bytes).to.equal(0);
  });

  it('abandons also the last transfer if none is to be left', () => {
    memory = new TransferMemory(100, 0);
    enter(ADA, 'a', 101);
    expect([abandoned, memory.bytes]).to.deep.equal([['a'], 0]);
  });

  it('keeps nothing of a user whose transfers have ended', async () => {
    const transferOf = (user: User) => {
      const transfer = enter(user, 'a', 10);
      memory.hold(user, transfer, () => 10);
      memory.leave(user, transfer);
      memory.release(user, transfer);
    };
    expect(await keptOf(transferOf)).to.be.below(1_000_000);
  });
});
