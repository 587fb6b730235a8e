/**
 * The domain needs only the language. The compiler checks its types and
 * dependency-cruiser its imports; this test runs it in a context without Node,
 * DOM, packages, clock and randomness.
 */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import ts from 'typescript';
import type * as Domain from '../../src/domain';
import { created, deleted, create, remove } from '../support/given';

const ROOT = resolve(__dirname, '../../src/domain');

describe('The domain', () => {
  it('runs in a context with only the language', () => {
    const { PlantList, decideInOrder, parsePlantId, canonicalInteger } = loadInVacuum(
      './index',
    ) as typeof Domain;
    const list = PlantList.from([created(1, 'Fern', 'indoor'), created(2, 'Moss'), deleted(1)]);

    const decisions = decideInOrder([remove(1), remove(2), create(1, 'Aloe')], list);
    for (const { events } of decisions) for (const event of events ?? []) list.evolve(event);

    expect(decisions.map(({ rejection }) => rejection)).to.deep.equal([
      'no-such-plant',
      undefined,
      undefined,
    ]);
    expect(JSON.stringify(list.page().plants)).to.equal('[{"name":"Aloe"}]');
    expect([parsePlantId('7'), canonicalInteger('70e-1')]).to.deep.equal(['7', '7']);
  });

  for (const outside of ['node:fs', 'fs', 'koa', '../application', '../domain-of-others', '/etc/hosts']) {
    it(`cannot load ${outside} there`, () => {
      expect(() => loadInVacuum(outside)).to.throw('outside the domain');
    });
  }

  it('cannot use the clock, random numbers or the process there', () => {
    const found = runInContext(
      '[typeof Date, typeof Math.random, typeof process, typeof setTimeout]',
      vacuum(),
    );
    expect([...(found as string[])]).to.deep.equal(['undefined', 'undefined', 'undefined', 'undefined']);
  });
});

function vacuum() {
  const context = createContext({});
  runInContext('delete globalThis.Date; delete Math.random', context);
  return context;
}

/** Loads a module, relative to the domain's folder, in a separate context. */
function loadInVacuum(name: string): unknown {
  const context = vacuum();
  const loaded = new Map<string, { exports: unknown }>();

  function load(request: string, from: string): unknown {
    const file = `${resolve(from, request)}.ts`;
    const inside = request.startsWith('.') && !relative(ROOT, file).startsWith('..');
    if (!inside) throw new Error(`${request} is outside the domain`);
    const known = loaded.get(file);
    if (known) return known.exports;

    const module = { exports: {} };
    loaded.set(file, module);
    const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), {
      compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2023 },
    });
    const run = runInContext(`(function (module, exports, require) {${outputText}\n})`, context, {
      filename: file,
    }) as (...scope: unknown[]) => void;
    run(module, module.exports, (next: string) => load(next, dirname(file)));
    return module.exports;
  }

  return load(name, ROOT);
}
