import { expect } from 'chai';
import type { User } from '../../../../src/application';
import { type HeldResponse, ResponseMemory } from '../../../../src/adapters/http/lists/response-memory';
import { keptOf } from '../many-users';

const [ADA, BOB, CY] = ['ada', 'bob', 'cy'] as User[] as [User, User, User];

describe('The memory of responses', () => {
  let memory: ResponseMemory;
  let abandoned: string[];

  beforeEach(() => {
    memory = new ResponseMemory(100);
    abandoned = [];
  });

  function enter(user: User, name: string, bytes: number): HeldResponse {
    const response = { abandon: () => void abandoned.push(name) };
    memory.enter(user, response, bytes);
    return response;
  }

  it('beyond the bound abandons the oldest response of the user with the most bytes', () => {
    enter(BOB, 'b1', 30);
    enter(ADA, 'a1', 20);
    enter(ADA, 'a2', 20);
    enter(ADA, 'a3', 20);
    expect(abandoned).to.deep.equal([]);
    enter(CY, 'c1', 30);
    expect(abandoned).to.deep.equal(['a1']);
    expect([memory.responses, memory.bytes]).to.deep.equal([4, 100]);
  });

  it('abandons a new response if its user has the most', () => {
    enter(ADA, 'a', 40);
    enter(BOB, 'b', 90);
    expect(abandoned).to.deep.equal(['b']);
  });

  it('keeps a single response of any length', () => {
    enter(ADA, 'a', 1000);
    expect(abandoned).to.deep.equal([]);
  });

  it('counts what responses of one user share once, and for as long as one of them holds it', () => {
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

  it('abandons no user that only shares, and has no response', () => {
    memory.hold(ADA, {}, () => 90);
    enter(BOB, 'b1', 5);
    enter(BOB, 'b2', 10);
    expect(abandoned).to.deep.equal(['b1']);
  });

  it('counts a response until it leaves, once', () => {
    const response = enter(ADA, 'a', 60);
    memory.leave(ADA, response);
    memory.leave(ADA, response);
    expect([memory.responses, memory.bytes]).to.deep.equal([0, 0]);
    enter(BOB, 'b', 90);
    expect(abandoned).to.deep.equal([]);
  });

  it('keeps nothing of a user whose responses were read', async () => {
    const readBy = (user: User) => {
      const response = enter(user, 'read', 10);
      memory.hold(user, response, () => 10);
      memory.leave(user, response);
      memory.release(user, response);
    };
    expect(await keptOf(readBy)).to.be.below(1_000_000);
  });
});
