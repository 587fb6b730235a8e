import { expect } from 'chai';
import { USER_OPERATIONS, servedMethods } from '../../../../src/adapters/http/openapi/operations';
import type { Operation } from '../../../../src/adapters/http/openapi/parts';
import { type HttpRequest, exchange } from '../../../support/client';
import type { Subject } from './http-contract';

const OPERATIONS = Object.entries<Operation>(USER_OPERATIONS);
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'PURGE', 'LOCK'];

/** The first example of each parameter in the path, and of the body. */
export function exampleOf({ method, path, parameters = [], requestBody }: Operation) {
  const examples = new Map(parameters.map(({ name, example }) => [name, example]));
  const [body] = Object.values(requestBody?.content['application/json']?.examples ?? {});
  return {
    method,
    path: path.replace(/\{(\w+)\}/g, (_, name: string) => String(examples.get(name))),
    headers: body ? { 'Content-Type': 'application/json' } : {},
    ...(body && { body: JSON.stringify(body.value) }),
  };
}

/** What follows from the table of operations. */
export function operations(service: Subject): void {
  for (const [id, operation] of OPERATIONS) {
    const example = exampleOf(operation);
    const { requestBody, parameters = [], failures = [] } = operation;
    const has = (place: string) => parameters.some((parameter) => parameter.in === place);

    describe(`The operation ${id}`, () => {
      const answers = (status: number, error: number, what: string, request: HttpRequest, requests = 1) =>
        it(`answers ${status}/${error} to ${what}`, async () => {
          const user = service.user();
          for (let sent = 1; sent < requests; sent++) await user.send(request);
          expect(await user.send(request)).to.include({ status, error });
        });

      it('answers 401/40100 without a token', async () =>
        expect(await exchange(service.url, example)).to.include({ status: 401, error: 40100 }));
      if (failures.includes('idTaken')) answers(400, 40003, 'an id that is taken', example, 2);
      if (failures.includes('noSuchPlant')) answers(404, 40401, 'an id that is free', example);
      if (has('path'))
        answers(400, 40005, 'an id that is not canonical', { ...example, path: `${example.path}.0` });
      for (const { name } of parameters.filter((each) => each.in === 'query'))
        answers(400, 40004, `several values of ${name}`, { ...example, path: `${example.path}?${name}[]=` });
      if (requestBody) {
        answers(400, 40001, 'a body that is no JSON', { ...example, body: '{' });
        answers(400, 40002, 'a body that is no object', { ...example, body: '[]' });
        answers(415, 41500, 'another type', { ...example, headers: { 'Content-Type': 'text/plain' } });
      }
    });
  }

  for (const path of new Set(OPERATIONS.map(([, operation]) => operation.path))) {
    const served = servedMethods(
      OPERATIONS.filter(([, operation]) => operation.path === path).map(([, { method }]) => method),
    );
    const target = path.replace('{id}', '1');

    describe(`The path ${path}`, () => {
      for (const method of METHODS.filter((each) => !served.includes(each))) {
        it(`answers 405/40500 with Allow to ${method}`, async () => {
          const user = service.user();
          await user.plants([1, 'Fern']);
          const answer = await user.send({ method, path: target });
          expect(answer.status).to.equal(405);
          if (method !== 'HEAD') expect(answer.error).to.equal(40500);
          expect(answer.headers.allow).to.equal(served.join(', '));
          expect(await user.names()).to.deep.equal(['Fern']);
        });
      }

      it('answers 204 with Allow to OPTIONS', async () => {
        const { status, text, headers } = await service.user().send({ method: 'OPTIONS', path: target });
        expect({ status, text, allow: headers.allow }).to.deep.equal({
          status: 204,
          text: '',
          allow: served.join(', '),
        });
      });
    });
  }
}
