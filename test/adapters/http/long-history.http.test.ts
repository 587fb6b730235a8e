import { expect } from 'chai';
import { LongHistory } from '../../support/long-history';
import { TOKENS, startWatched } from '../../support/watched-service';

describe('A history that takes longer to load than a request may', () => {
  it('is loaded in the end: 503 and Retry-After meanwhile, and nothing is read twice over', async () => {
    const store = new LongHistory(41, 2, 20);
    const service = await startWatched({ STORE_TIMEOUT_MS: '100' }, { eventStore: store });
    try {
      const list = async () => {
        const answer = await fetch(`${service.url}/plants`, {
          headers: { Authorization: `Bearer ${TOKENS.alice}` },
        });
        return { status: answer.status, retry: answer.headers.get('retry-after'), body: await answer.json() };
      };
      const refusals = [];
      let answer = await list();
      for (; answer.status !== 200 && refusals.length < 40; answer = await list()) refusals.push(answer);

      expect(refusals).to.have.length.above(1);
      for (const { status, retry, body } of refusals) {
        expect(status).to.equal(503);
        expect(retry).to.match(/^[12]$/);
        expect(body).to.include({ error: 50300 });
      }
      expect(answer.body).to.deep.equal([{ name: 'Fern' }]);
      expect(store.asked.filter((version) => version === 0)).to.have.length(1);
      // What was on its way when the time was up is asked for again, and nothing else.
      expect(store.asked.length).to.be.at.most(21 + refusals.length + 1);
    } finally {
      await service.stop();
    }
  });

  it('is told of in the log, now and then, by a hash of the user', async () => {
    const service = await startWatched({}, { eventStore: new LongHistory(250_001, 10_000) });
    try {
      await fetch(`${service.url}/plants`, { headers: { Authorization: `Bearer ${TOKENS.alice}` } });
      const lines = service.log
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ msg }) => String(msg).startsWith('loading a long history'));
      expect(lines.map(({ version }) => version)).to.deep.equal([100_000, 200_000]);
      for (const { user, level } of lines) {
        expect(user).to.match(/^[0-9a-f]{12}$/);
        expect(level).to.equal(30);
      }
    } finally {
      await service.stop();
    }
  });
});
