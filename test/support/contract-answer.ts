import { expect } from 'chai';
import { PROBLEMS } from '../../src/adapters/http/problems';
import type { Answer } from './http-answer';

const FAILURES = new Set(Object.values(PROBLEMS).map(({ status, error }) => `${status} ${error}`));
/** What goes with a status. */
const COMPANIONS: Readonly<Record<number, string>> = {
  401: 'www-authenticate',
  405: 'allow',
  415: 'accept',
  503: 'retry-after',
};

/** Holds an answer to what every answer must be, whatever was asked. */
export function expectContract({ status, fields, body }: Answer): void {
  if (status === 100) {
    expect([...fields]).to.deep.equal([]);
    return;
  }
  expect(fields.get('x-request-id')).to.match(/^[A-Za-z0-9._-]{1,64}$/);
  expect(fields.get('x-content-type-options')).to.equal('nosniff');
  expect(fields.get('date')).to.satisfy((date: string) => !Number.isNaN(Date.parse(date)));
  expect(fields.get('cache-control')).to.equal(fields.has('etag') ? 'private, no-cache' : 'no-store');
  expect([...fields.keys()]).to.not.include.members(['server']);
  expect([...fields.keys()].filter((name) => /^x-powered|^via$/.test(name))).to.deep.equal([]);

  const companion = COMPANIONS[status];
  if (companion !== undefined) expect([...fields.keys()]).to.include(companion);
  if (status === 204 || status === 304) return;
  expect(fields.get('content-type')).to.equal('application/json');
  if (status >= 400 && body.length > 0) expectError(status, body);
}

function expectError(status: number, body: Buffer): void {
  const error = JSON.parse(body.toString()) as { error: number; message: string };
  expect(Object.keys(error)).to.deep.equal(['error', 'message']);
  expect(FAILURES).to.include(`${status} ${error.error}`);
  expect(error.message).to.be.a('string').and.not.equal('');
}

export function errorOf({ body }: Answer): number {
  return (JSON.parse(body.toString()) as { error: number }).error;
}
