import { expect } from 'chai';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import { temporaryDirectory } from '../support/temporary-directory';
import { type WatchedService, startWatched } from '../support/watched-service';
import { paste, theBlock } from './shell';

describe('The shell commands of the pages', () => {
  const inDirectory = temporaryDirectory();

  it('start the service (sh start)', async () => {
    // `.ci/run` starts with `npm ci`, so these tests run on its installation.
    const command = theBlock('sh start').text.replace('npm ci && ', '');
    const output = await paste(command, { PORT: '0', LOG_FORMAT: 'pretty' }, /Try it:[^]*\n\n/);
    expect(output).to.contain('plant-store listens on http://127.0.0.1:');
  });

  it('add a token (sh token)', async () => {
    const file = inDirectory('tokens.json');
    const output = await paste(theBlock('sh token').text.replace('/etc/plant-store/tokens.json', file));
    expect(output).to.match(/^plants_\S+$/m);
    expect(readFileSync(file, 'utf8')).to.contain('"alice"').and.contain('"laptop"');
  });

  describe('with an identity provider', () => {
    const secret = 'a secret that the issuer and the service share';
    let issuer: Server;
    let service: WatchedService;
    before(async () => {
      issuer = createServer((request, response) => {
        void (async () => {
          let form = '';
          for await (const chunk of request) form += String(chunk);
          const { grant_type, client_id, client_secret } = Object.fromEntries(new URLSearchParams(form));
          const known =
            [grant_type, client_id, client_secret].join() === 'client_credentials,plant-cli,s3cret';
          const token = new SignJWT().setProtectedHeader({ alg: 'HS256' }).setSubject('alice');
          token.setIssuer('https://id.example.com').setAudience('plants').setExpirationTime('1m');
          const access_token = known ? await token.sign(new TextEncoder().encode(secret)) : 'none';
          response.end(JSON.stringify({ access_token }));
        })();
      }).listen(0, '127.0.0.1');
      await once(issuer, 'listening');
      service = await startWatched({
        AUTH_TOKENS: '',
        AUTH_JWT_SECRET: secret,
        AUTH_JWT_ISSUER: 'https://id.example.com',
        AUTH_JWT_AUDIENCE: 'plants',
      });
    });
    after(async () => {
      issuer.close();
      await service.stop();
    });

    it('get a token from it, and list plants with that token (sh issuer)', async () => {
      const command = theBlock('sh issuer')
        .text.replace('https://id.example.com', `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`)
        .replace('https://plants.example.com', service.url)
        .replace('curl https', 'curl -s https');
      // Without jq, Node does the only operation that the page uses it for.
      const jq = `command -v jq >/dev/null || jq() { node -p 'JSON.parse(fs.readFileSync(0))["access_token"]'; }`;
      const output = await paste(`${jq}\n${command.replace('\ncurl ', '\ncurl -s ')}`, {
        SECRET: 's3cret',
      });
      expect(output.trim()).to.equal('[]');
    });
  });
});
