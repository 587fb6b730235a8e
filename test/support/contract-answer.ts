import { expect } from 'chai';
import { PROBLEMS } from '../../src/adapters/http/problems';
import type { Answer } from './http-answer';

const FAILURES = new Set(Object.values(PROBLEMS).map(({ status, error }) => `${status} ${error}`));
/** Holds an answer to what every answer must be, whatever was asked; that it is documented, RawSocket sees to. */
export function expectContract({ status, fields, body }: Answer): void {
  if (status === 100) {
    expect([...fields]).to.deep.equal([]);
    return;
  }
  expect(fields.get('x-request-id')).to.match(/^[A-Za-z0-9._-]{1,64}$/);
  expect(fields.get('x-content-type-options')).to.equal('nosniff');
  expect(fields.get('date')).to.satisfy((date: string) => !Number.isNaN(Date.parse(date)));
  if (status >= 400) expect(fields.get('content-type')).to.equal('application/json');
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
