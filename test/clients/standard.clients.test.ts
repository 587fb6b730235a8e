import { join } from 'node:path';
import { expect } from 'chai';
import { describePrograms } from '../support/programs';
import { tokenOf } from '../support/token';
import { ENTRANCES, PROXIES, entrances } from './entrances';
import { RESPONSES, linesOf, requestsOf } from './exchanges';
import { runProgram } from './run-program';

type ProgramClient = (url: string, token: string) => Promise<string>;

/** Each sends the requests to the service at `url`, and resolves with a line for each response. */
const CLIENTS: Readonly<Record<string, ProgramClient>> = {
  curl: curl(),
  'curl, which requests an upgrade to HTTP/2': curl('--http2'),
  "Python's http.client": reader('python3', 'exchange.py', 'http.client'),
  "Python's urllib": reader('python3', 'exchange.py', 'urllib'),
  "Java's HttpClient": reader('java', 'Exchange.java', 'HTTP_1_1'),
  "Java's HttpClient, which requests an upgrade to HTTP/2": reader('java', 'Exchange.java', 'HTTP_2'),
};

/** A program that reads the requests from its standard input: on each line one, its parts separated by tabs. */
function reader(interpreter: string, source: string, variant: string): ProgramClient {
  return (url, token) => {
    const input = requestsOf(token).map((request) => `${request.join('\t')}\n`);
    return runProgram(interpreter, [join(__dirname, 'programs', source), url, variant], input.join(''));
  };
}

function curl(...options: readonly string[]): ProgramClient {
  return async (url, token) => {
    let lines = '';
    for (const [method, path, sentToken, body] of requestsOf(token)) {
      const output = await runProgram('curl', [
        ...['--silent', '--show-error', '--max-time', '30', ...options, '--request', method],
        ...(sentToken === '' ? [] : ['--header', `Authorization: Bearer ${sentToken}`]),
        ...(body === '' ? [] : ['--header', 'Content-Type: application/json', '--data', body]),
        ...['--write-out', '\n%{http_version} %{http_code}', url + path],
      ]);
      const [, answer, version, status] = /^(.*)\n(\S+) (\d+)$/.exec(output)!;
      lines += `HTTP_${version!.replace('.', '_')}\t${status!}\t${answer!}\n`;
    }
    return lines;
  };
}

const PROGRAMS = { curl: 'curl', python3: 'python3', java: 'default-jdk-headless', ...PROXIES };

const CASES = ENTRANCES.flatMap((entrance) =>
  Object.entries(CLIENTS).map(([name, client]) => ({
    title: `answers ${name}, ${entrance}`,
    entrance,
    client,
  })),
);

describePrograms(PROGRAMS, 'The service', function () {
  this.timeout(60_000);
  // Each has a user of its own.
  const urls = entrances(CASES.map((_, index) => `user${index}`));
  for (const [index, { title, entrance, client }] of CASES.entries())
    it(title, async () => {
      expect(linesOf(await client(urls[entrance], tokenOf(`user${index}`)))).to.deep.equal(RESPONSES);
    });
});
