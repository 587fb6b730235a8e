import { expect } from 'chai';
import { ReceivedBodies } from '../../../../src/adapters/http/app/received-bodies';
import type { User } from '../../../../src/application';
import { keptOf } from '../many-users';

const [ada, bob] = ['ada', 'bob'] as User[];

describe('ReceivedBodies', () => {
  const refused: string[] = [];
  beforeEach(() => (refused.length = 0));
  const begin = (bodies: ReceivedBodies, user: User | undefined, name: string) =>
    bodies.begin(user!, ({ reason }) => refused.push(`${name}: ${reason}`));

  it('refuses the first body of the user whose bodies take the most memory, and frees it', () => {
    const bodies = new ReceivedBodies(10_000);
    const ofBob = begin(bodies, bob, 'of bob');
    ofBob.received(2000);
    const [first, second, third] = ['first', 'second', 'third'].map((name) => begin(bodies, ada, name));
    first!.received(2000);
    second!.received(2000);
    expect(refused).to.deep.equal([]);
    third!.received(2000);
    expect(refused).to.deep.equal(['first: bodies']);
    first!.received(1_000_000);
    expect(bodies.bytes).to.equal(3 * 2512);
    for (const body of [ofBob, first, second, third]) body!.release();
    expect(bodies.bytes).to.equal(0);
    expect(refused).to.have.length(1);
  });

  it('refuses a body that takes all the memory itself', () => {
    const bodies = new ReceivedBodies(10_000);
    begin(bodies, ada, 'small').received(100);
    const large = begin(bodies, bob, 'large');
    for (let pieces = 0; pieces < 20; pieces++) large.received(1);
    expect(refused).to.deep.equal(['large: bodies']);
  });

  it('refuses the body of the user with the most memory, also if it began before all others', () => {
    const bodies = new ReceivedBodies(10_000);
    begin(bodies, ada, 'large').received(8000);
    begin(bodies, bob, 'small').received(1000);
    expect(refused).to.deep.equal(['large: bodies']);
  });

  it('counts no bytes of a body that was released', () => {
    const bodies = new ReceivedBodies(10_000);
    const body = begin(bodies, ada, 'first');
    body.release();
    body.received(20_000);
    body.release();
    expect(bodies.bytes).to.equal(0);
    expect(refused).to.deep.equal([]);
  });

  it('keeps nothing of a user whose bodies were received', async () => {
    const bodies = new ReceivedBodies();
    const receiveFrom = (user: User) => {
      const body = begin(bodies, user, 'a body');
      body.received(10);
      body.release();
    };
    expect(await keptOf(receiveFrom)).to.be.below(1_000_000);
  });
});
