import { expect } from 'chai';
import { PROCESS_CLOCK } from '../../../src/adapters/redis/clock';

describe('The default clock of the Redis adapter', () => {
  it('waits as long as it can if a timer is longer than that', async () => {
    let happened = false;
    const cancel = PROCESS_CLOCK.after(Infinity, () => (happened = true));
    await new Promise((resolve) => setTimeout(resolve, 10));
    cancel();
    expect(happened).to.equal(false);
  });
});
