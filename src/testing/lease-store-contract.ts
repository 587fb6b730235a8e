/** The executable contract of the LeaseStore port, for any test framework. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { LeaseStore } from '../event-sourcing';
import { type Cases, aProjection, assertClosed } from './case';
import { ODD_TEXTS } from './odd-texts';
import type { PortOptions } from './options';
import type { OpenStore } from './place';
import { type ContractCase, contractCases } from './run-cases';

/** The cases. Each opens a store with its leases by `open`, and closes it at its end. */
export function leaseStoreContract(
  open: () => OpenWithLeases | Promise<OpenWithLeases>,
  { durable = false, shared = false, ...options }: PortOptions = {},
): ContractCase[] {
  const groups = [saving, durable ? reopening : {}, shared ? sharing : {}, closing];
  return contractCases(open, options, { examples: groups });
}

type OpenWithLeases = OpenStore & { readonly leases: LeaseStore };

const saving: Cases = {
  'leases have no text until one is saved, and then that text, until it is removed': async ({ place }) => {
    const { leases } = place;
    const name = aProjection();
    let before: string | undefined;
    for (const text of [...ODD_TEXTS.filter((each) => each !== ''), undefined, 'again', undefined]) {
      assert.equal((await leases.load(name)).text, before);
      assert.equal(await leases.save(name, before, text), true);
      before = text;
    }
    assert.equal((await leases.load(name)).text, undefined);
  },

  'leases replace a text only if it is the expected one': async ({ place }) => {
    const { leases } = place;
    const name = aProjection();
    assert.equal(await leases.save(name, 'never', 'lost'), false);
    assert.equal(await leases.save(name, undefined, 'first'), true);
    for (const expected of [undefined, 'firs', 'first ']) {
      assert.equal(await leases.save(name, expected, 'lost'), false);
      assert.equal(await leases.save(name, expected, undefined), false);
    }
    assert.equal((await leases.load(name)).text, 'first');
  },

  'of saves at a time that expect one text, leases accept one': async ({ place }) => {
    const { leases } = place;
    const name = aProjection();
    let before: string | undefined;
    for (let round = 0; round < 10; round++) {
      const texts = [0, 1, 2, 3].map((writer) => `${round} of ${writer}`);
      const saved = await Promise.all(texts.map((text) => leases.save(name, before, text)));
      before = (await leases.load(name)).text;
      assert.deepEqual(
        texts.filter((_, index) => saved[index]),
        [before],
      );
    }
  },

  'leases of two projections have nothing in common, and both are listed': async ({ place }) => {
    const { leases } = place;
    const [one, other] = [aProjection(), aProjection()];
    await leases.save(one, undefined, 'first');
    assert.equal((await leases.load(other)).text, undefined);
    await leases.save(other, undefined, 'second');
    assert.equal((await leases.load(one)).text, 'first');
    const listed = async () =>
      (await leases.projections()).filter((name) => name === one || name === other).sort();
    assert.deepEqual(await listed(), [one, other].sort());
    await leases.save(one, 'first', undefined);
    assert.deepEqual(await listed(), [other]);
  },

  'leases have a time in ms, which goes on': async ({ place }) => {
    const { leases } = place;
    const name = aProjection();
    const before = (await leases.load(name)).now;
    await pause(50);
    const passed = (await leases.load(name)).now - before;
    assert(passed >= 40 && passed < 5000, `after 50 ms the time is ${passed} ms later`);
  },
};

const reopening: Cases = {
  'a reopened store has the leases of before': async ({ place }) => {
    const name = aProjection();
    await place.leases.save(name, undefined, 'first');
    await place.reopen();
    assert.equal((await place.leases.load(name)).text, 'first');
  },
};

const sharing: Cases = {
  'two stores on one place have the same leases and the same time': async ({ place }) => {
    const { leases } = place;
    await place.open();
    const { leases: other } = place;
    const name = aProjection();
    await other.save(name, undefined, 'first');
    assert.equal(await leases.save(name, undefined, 'lost'), false);
    const times: number[] = [];
    for (const each of [leases, other, leases, other]) {
      const { text, now } = await each.load(name);
      assert.equal(text, 'first');
      times.push(now);
    }
    assert.deepEqual(
      times,
      [...times].sort((a, b) => a - b),
    );
  },
};

const closing: Cases = {
  'a closed store neither loads nor saves leases: it rejects with StoreUnavailable': async ({ place }) => {
    const { leases } = place;
    const name = aProjection();
    await assertClosed(place, {
      'a load of leases': () => leases.load(name),
      'a save of leases': () => leases.save(name, undefined, 'first'),
      'the list of the projections': () => leases.projections(),
    });
  },
};
