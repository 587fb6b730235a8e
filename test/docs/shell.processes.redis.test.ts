import { expect } from 'chai';
import { mintCommit } from '../../src/adapters/redis/commit-id';
import { BEGINNING } from '../../src/event-sourcing';
import { openStore } from '../adapters/redis/open-store';
import { plantsOf } from '../support/given';
import { describeRedis } from '../support/redis';
import { describePrograms } from '../support/programs';
import { startWatched } from '../support/watched-service';
import { paste, stepsOf, theBlock } from './shell';

describeRedis('The blocks of the pages about Redis', (redis) => {
  it('start the service on it (sh start redis)', async () => {
    const command = theBlock('sh start redis').text.replace('redis://127.0.0.1:6379', redis.url);
    expect(command).to.contain(redis.url);
    const output = await paste(command, { PORT: '0', LOG_LEVEL: 'warn' }, /listens on/);
    expect(output).to.contain('(events in Redis)');
  });

  it('show how events are stored, except for their commit ids (console redis)', async () => {
    const shown = theBlock('console redis').text.trim().split('\n').slice(1);
    const { store, close } = await openStore(redis.url, { keyPrefix: redis.prefix });
    const alice = plantsOf('alice');
    let head = BEGINNING;
    for (const [index, name] of shown.entries())
      if (name.endsWith('"type"')) {
        const [type, data] = [shown[index + 1]!, shown[index + 3]!].map(shownText) as [string, string];
        const appended = await store.append(alice, head, mintCommit(), [{ type, data }]);
        if (appended.status === 'appended') ({ head } = appended);
      }
    await close();

    const entries = await redis.admin.xrange(`${redis.prefix}:{39}:plants/alice:events`, '-', '+');
    const lines = entries.flatMap(([version, fields], index) => [
      `${index + 1}) 1) "${version}"`,
      ...fields.map(
        (field, place) => `${place === 0 ? '   2) ' : '      '}${place + 1}) ${JSON.stringify(field)}`,
      ),
    ]);
    expect(lines.map(withoutCommit)).to.deep.equal(shown.map(withoutCommit));
  });
});

// Beside Redis, because the machines of these tests have zsh, too.
describePrograms({ zsh: 'zsh', curl: 'curl' }, 'The commands of the pages in zsh, the shell of macOS', () => {
  it('show the output of the tour (console tour)', async () => {
    const service = await startWatched({ AUTH_TOKENS: '' });
    try {
      const TOKEN = service.developmentToken!;
      for (const [command, output] of stepsOf('console tour')) {
        const text = command.replaceAll('http://127.0.0.1:3000', service.url);
        expect(await paste(text, { TOKEN }, undefined, 'zsh'), command).to.equal(output.trim());
      }
    } finally {
      await service.stop();
    }
  });
});

/** The text of a line of redis-cli. */
function shownText(line: string): string {
  return JSON.parse(line.slice(line.indexOf('"'))) as string;
}

function withoutCommit(line: string): string {
  return line.replace(/\d{19}/, 'commit id');
}
