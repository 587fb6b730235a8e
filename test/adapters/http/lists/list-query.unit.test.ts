import { expect } from 'chai';
import { QUERY_PARAMETERS, canonical, parseQuery } from '../../../../src/adapters/http/lists/list-query';
import { HttpProblem } from '../../../../src/adapters/http/app/problems';
import { WHOLE_LIST } from '../../../../src/application';
import { QUERIES } from '../../../support/list-queries';

/** The cursor of position 3. */
const CURSOR = Buffer.from('v1.3').toString('base64url');

/** With all parameters. */
const COMPLETE = canonical(QUERIES.at(-1)!);

function refusalOf(querystring: string): string {
  try {
    parseQuery(querystring);
    return 'accepted';
  } catch (error) {
    expect(error).to.be.instanceOf(HttpProblem);
    const { problem, message } = error as HttpProblem;
    return `${problem.error} ${message}`;
  }
}

describe('The query of a list', () => {
  it('is that of the whole list if it has no known parameter', () => {
    const unknown = [
      'lim=3',
      'page=3',
      'Limit=3',
      'limits[]=3',
      'a[limit]=3',
      '=3',
      '%zz=%zz',
      '__proto__=3',
    ];
    for (const querystring of ['', '&', '&&', ...unknown])
      expect(parseQuery(querystring), querystring).to.deep.equal(WHOLE_LIST);
  });

  it('refuses a parameter with several values', () => {
    for (const { name } of QUERY_PARAMETERS)
      for (const brackets of ['[]', '[0]', '%5B%5D', '['])
        for (const before of ['', 'other=1&'])
          expect(refusalOf(`${before}${name}${brackets}=1`)).to.equal(`40004 ${name} takes one value`);
  });

  it('refuses a value that is not UTF-8 with the escapes of a URL, for every parameter', () => {
    for (const { name } of QUERY_PARAMETERS)
      for (const value of ['%FF', '%', '%zz', '%ED%A0%80'])
        expect(refusalOf(`${name}=${value}`)).to.equal(
          `40004 ${name} must be UTF-8, with the escapes of a URL`,
        );
  });

  it('refuses a parameter that is given twice', () => {
    for (const { name } of QUERY_PARAMETERS)
      expect(refusalOf(`${COMPLETE}&${name}=1`)).to.equal(`40004 ${name} must not be given twice`);
  });

  it('refuses a limit that is not written in decimal digits', () => {
    const refusal = '40004 limit must be a number of plants in decimal digits, 0 or more';
    for (const limit of ['', '-1', '+1', '1.0', '1e3', '0x10', ' 1', '1 ', '1\n', 'ten', '١', '²'])
      expect(refusalOf(`limit=${encodeURIComponent(limit)}`), limit).to.equal(refusal);
    // A plus in a query is a space.
    for (const querystring of ['limit', 'limit=+1'])
      expect(refusalOf(querystring), querystring).to.equal(refusal);
  });

  it('refuses a cursor that the service did not make', () => {
    const made = (text: string) => Buffer.from(text).toString('base64url');
    const cursors = [
      '',
      'v1.3',
      '3',
      `${CURSOR}=`,
      `${CURSOR}A`,
      made('v1.0'),
      made('v1.-1'),
      made('v1.03'),
      made('v1.3.0'),
    ];
    cursors.push(
      made('v1.1e3'),
      made('v1.'),
      made('v1.x'),
      made('v2.3'),
      made('v1.9007199254740992'),
      made('v1.Infinity'),
    );
    for (const cursor of cursors)
      expect(refusalOf(`cursor=${cursor}`), cursor).to.equal(
        '40004 cursor must come from the Link of an earlier response',
      );
  });
});

describe('The canonical text of a query', () => {
  it('is the same for all ways to write the query, and selects the same page', () => {
    for (const [sent, text] of [
      ['', ''],
      ['limit=002', 'limit=2'],
      ['limit=%32&other=1', 'limit=2'],
      ['cursor=djEuNQ&limit=2', 'limit=2&cursor=djEuNQ'],
      ['cursor=djEuNQ', 'cursor=djEuNQ'],
    ] as const) {
      const query = parseQuery(sent);
      expect(canonical(query), sent).to.equal(text);
      expect(parseQuery(text), sent).to.deep.equal(query);
    }
  });

  it('stays short: Link repeats it, and clients accept header fields of some KiB only', () => {
    for (const { name } of QUERY_PARAMETERS)
      for (const value of ['x'.repeat(5000), '%20'.repeat(1500), '%F0%9F%8C%BF'.repeat(600)])
        expect(refusalOf(`${name}=${value}`)).to.match(/^40004 /);
  });

  it('differs between any two queries that differ in a member', () => {
    expect(QUERIES).to.have.length.of.at.least(12);
    expect(new Set(QUERIES.map(canonical))).to.have.property('size', QUERIES.length);
  });

  it('is read as the same query, and may stand in a URL and in Link', () => {
    for (const query of QUERIES) {
      const text = canonical(query);
      expect(parseQuery(text), text).to.deep.equal(query);
      expect(text).to.match(/^[\w.~!$&'()*+,;=:@/?%-]*$/);
    }
  });
});
