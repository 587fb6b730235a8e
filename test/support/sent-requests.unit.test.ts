import { expect } from 'chai';
import { SentRequests } from './sent-requests';

const GET = 'GET /plants HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST /plants HTTP/1.1\r\nHost: a\r\n';
const list = { method: 'GET', target: '/plants' };
const create = { method: 'POST', target: '/plants' };

/** The first three requests of these bytes. */
function requestsOf(...bytes: string[]) {
  const sent = new SentRequests();
  bytes.forEach((some) => sent.add(some));
  return [sent.next(), sent.next(), sent.next()];
}

describe('the requests in sent bytes', () => {
  it('are separated, in any pieces', () => {
    expect(requestsOf(GET + GET.slice(0, 9), GET.slice(9) + GET)).to.deep.equal([list, list, list]);
  });

  it('may have empty lines before them', () => {
    expect(requestsOf(`\r\n\r\n${GET}`)[0]).to.deep.equal(list);
  });

  for (const [how, body] of [
    ['a length', 'Content-Length: 5\r\n\r\nGET /'],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nGET /\r\n0\r\nTrailer: x\r\n\r\n'],
  ] as const) {
    it(`may have a body with ${how}, which is not a request`, () => {
      expect(requestsOf(POST + body + GET)).to.deep.equal([create, list, undefined]);
    });
  }

  for (const [what, bytes] of Object.entries({
    garbage: '\0garbage\r\n\r\n',
    'another protocol': 'GET / HTTP/2.0\r\n\r\n',
    'a body of ambiguous length': `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`,
    'a malformed length': `${POST}Content-Length: 5, 5\r\n\r\n`,
    'a malformed chunk': `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
  })) {
    it(`are unknown after ${what}`, () => {
      expect(requestsOf(GET + bytes + GET)).to.deep.equal([list, undefined, undefined]);
    });
  }

  it('end before an incomplete header', () => {
    expect(requestsOf(GET + POST)).to.deep.equal([list, undefined, undefined]);
  });
});
