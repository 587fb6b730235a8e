import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { HEADER, sealOf, trailerLine } from '../../../src/adapters/cli/event-lines';
import { BEGINNING, StoreUnavailable, UnreadableHistory } from '../../../src/application';
import { MAX_INT64, RUNS } from '../../domain/arbitraries';
import { created, deleted, ferns, plantId } from '../../support/given';
import { temporaryDirectory } from '../../support/temporary-directory';
import { carryOut } from './a-terminal';
import { aStore, historyOf, record } from './events';

const exported = async (store: MemoryEventStore, ...typed: string[]) =>
  (await carryOut({ store }, 'events', 'export', '--quiet', ...typed)).out;

const importInto = (store: MemoryEventStore, stdin: string | Uint8Array, ...typed: string[]) =>
  carryOut({ store, stdin }, 'events', 'import', ...typed);

/** With a last line that fits again. */
function resealed(text: string): string {
  const lines = text.split('\n').slice(0, -2);
  const body = lines.map((line) => `${line}\n`).join('');
  const events = lines.slice(1);
  const streams = new Set(events.map((line) => (JSON.parse(line) as { stream: string }).stream)).size;
  return `${body}${trailerLine({ streams, events: events.length, seal: sealed(body) })}`;
}

function sealed(body: string): string {
  const seal = sealOf(HEADER)!;
  seal.update(body);
  return seal.digest('hex');
}

/** The same export as the first version of the format had it. */
function asVersion1(text: string): string {
  const body = text.replace(HEADER, HEADER.replace('2', '1')).replace(/\{"streams".*\n$/, '');
  const [trailer] = /\{"streams".*\n$/.exec(text)!;
  const sha256 = createHash('sha256').update(body).digest('hex');
  return body + trailer.replace(/"seal":"\w+"/, `"sha256":"${sha256}"`);
}

describe('events export', () => {
  it('writes a line an event, exact and self-explaining, between a first and a last', async () => {
    const store = new MemoryEventStore();
    await record(store, 'bob', [created(plantId(MAX_INT64), 'Fern "1"', '')]);
    await record(store, 'alice', [created(1, 'Moss')], [deleted(1)]);
    const body = [
      '{"format":"plant-store events","version":2}',
      '{"stream":"alice","version":1,"commit":"alice-0-1","type":"PlantCreated","id":"1","name":"Moss"}',
      '{"stream":"alice","version":2,"commit":"alice-1-2","type":"PlantDeleted","id":"1"}',
      '{"stream":"bob","version":1,"commit":"bob-0-1","type":"PlantCreated","id":"9223372036854775807","name":"Fern \\"1\\"","tag":""}',
      '',
    ].join('\n');
    const { code, out, error } = await carryOut({ store }, 'events', 'export');
    expect(out).to.equal(`${body}{"streams":2,"events":3,"seal":"${sealed(body)}"}\n`);
    expect({ code, error }).to.deep.equal({ code: 0, error: 'Exported 3 events of 2 users.\n' });
  });

  it('of some users leaves all others out', async () => {
    const store = await aStore();
    await record(store, 'carol', [created(1, 'Ivy')]);
    const out = await exported(store, '--user', 'carol', '--user', 'alice', '--user', 'carol');
    expect([...out.matchAll(/"stream":"(\w+)"/g)].map(([, name]) => name)).to.deep.equal([
      'alice',
      'alice',
      'alice',
      'carol',
    ]);
  });

  it('of somebody who has nothing is refused, exit code 1', async () => {
    const { code, error } = await carryOut({ store: await aStore() }, 'events', 'export', '--user', 'alcie');
    expect({ code, error }).to.deep.equal({ code: 1, error: 'plant-store: nothing is stored for alcie\n' });
  });

  it('of an empty store is whole, too', async () => {
    const out = await exported(new MemoryEventStore());
    expect(await importInto(new MemoryEventStore(), out)).to.include({ code: 0 });
  });

  it('never ends within a commit, whatever is appended meanwhile', async () => {
    const store = await aStore();
    const read = store.read.bind(store);
    let more = 20;
    store.read = async (...args) => {
      if (more-- > 0)
        await record(
          store,
          'alice',
          ferns(3).map((fern, index) => ({ ...fern, id: plantId(100 + 3 * more + index) })),
        );
      return read(...args);
    };
    const target = new MemoryEventStore();
    await importInto(target, await exported(store));
    const [there, here] = [await historyOf(store, 'alice'), await historyOf(target, 'alice')];
    expect(here).to.deep.equal(there.slice(0, here.length));
    expect(here.at(-1)!.commit).not.to.equal(there[here.length]?.commit);
  });

  it('of a history that cannot be read fails, and says whose it is', async () => {
    const store = await aStore();
    store.read = async () => Promise.reject(new UnreadableHistory('entry 3-0 holds no PlantMoved'));
    const { code, out, error } = await carryOut({ store }, 'events', 'export');
    expect(code).to.equal(1);
    expect(error).to.match(/the events of alice cannot be read: entry 3-0 .* not complete/);
    expect(await importInto(new MemoryEventStore(), out)).to.include({ code: 1 });
  });

  it('tells of what it leaves out, since it is no stream', async () => {
    const catalogue = Object.assign(new MemoryEventStore(), {
      async *streams() {
        yield { foreign: 'key plant-store:x\n' };
      },
    });
    const { code, error } = await carryOut({ catalogue }, 'events', 'export');
    expect({ code, error }).to.deep.equal({
      code: 0,
      error: 'left out: "key plant-store:x\\n"\nExported 0 events of 0 users.\n',
    });
  });

  it('waits for its reader, and holds a page at a time', async () => {
    const store = new MemoryEventStore(10);
    await record(store, 'alice', ferns(2000));
    let pages = 0;
    const read = store.read.bind(store);
    store.read = (...args) => {
      pages++;
      return read(...args);
    };
    let taken = '';
    let take = () => {};
    const stdout = new Writable({
      highWaterMark: 1,
      write(chunk: Buffer, _, done) {
        taken += chunk.toString();
        take = done;
      },
    });
    const outcome = carryOut({ store, stdout }, 'events', 'export', '--quiet');
    for (let i = 0; i < 50; i++) await new Promise(setImmediate);
    expect(pages).to.be.below(3);
    const pump = setInterval(() => take(), 0);
    expect(await outcome).to.include({ code: 0 });
    clearInterval(pump);
    expect(taken.split('\n')).to.have.length(2003);
  });

  it('ends quietly, exit code 141, when nobody reads on', async () => {
    const stdout = new Writable({
      write: (_chunk, _encoding, done) =>
        done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write' })),
    });
    expect(await carryOut({ store: await aStore(), stdout }, 'events', 'export', '--quiet')).to.deep.equal({
      code: 141,
      out: '',
      error: '',
    });
  });

  describe('to a file', () => {
    const path = temporaryDirectory();

    it('has it there, for its owner only, once it is complete', async () => {
      const store = await aStore();
      writeFileSync(path('out'), 'of yesterday');
      expect(await carryOut({ store }, 'events', 'export', '-o', path('out'))).to.include({
        code: 0,
        out: '',
      });
      expect(readFileSync(path('out'), 'utf8')).to.equal(await exported(store));
      expect(readdirSync(dirname(path('out')))).to.deep.equal(['out']);
    });

    it('leaves the one of before where it fails', async () => {
      const store = await aStore();
      store.read = async () => Promise.reject(new StoreUnavailable('away'));
      writeFileSync(path('out'), 'of yesterday');
      expect(await carryOut({ store }, 'events', 'export', '-o', path('out'))).to.include({ code: 3 });
      expect(readFileSync(path('out'), 'utf8')).to.equal('of yesterday');
      expect(readdirSync(dirname(path('out')))).to.deep.equal(['out']);
    });

    it('leaves the one of before, and nothing else, on Ctrl-C: exit code 130', async () => {
      const store = await aStore();
      const interrupt = new AbortController();
      const read = store.read.bind(store);
      let pages = 0;
      store.read = (...args) => {
        if (++pages < 2) return read(...args);
        setImmediate(() => interrupt.abort());
        return new Promise(() => {});
      };
      writeFileSync(path('out'), 'of yesterday');
      expect(
        await carryOut({ store, interrupted: interrupt.signal }, 'events', 'export', '-o', path('out')),
      ).to.deep.equal({
        code: 130,
        out: '',
        error: `plant-store: interrupted; ${path('out')} is as it was\n`,
      });
      expect(readFileSync(path('out'), 'utf8')).to.equal('of yesterday');
      expect(readdirSync(dirname(path('out')))).to.deep.equal(['out']);
    });

    it('that is a link replaces what that points to, and writes to what is no file', async () => {
      const store = await aStore();
      const whole = await exported(store);
      writeFileSync(path('real'), 'of before');
      symlinkSync(path('real'), path('link'));
      await exported(store, '--output', path('link'));
      expect(lstatSync(path('link')).isSymbolicLink()).to.equal(true);
      expect(readFileSync(path('real'), 'utf8')).to.equal(whole);

      execFileSync('mkfifo', [path('pipe')]);
      const read = readFile(path('pipe'), 'utf8');
      await exported(store, '--output', path('pipe'));
      expect(await read).to.equal(whole);
      expect(lstatSync(path('pipe')).isFIFO()).to.equal(true);
      expect(readdirSync(dirname(path('x'))).sort()).to.deep.equal(['link', 'pipe', 'real']);
    });

    it('that cannot be written says why', async () => {
      const { code, error } = await carryOut(
        { store: await aStore() },
        'events',
        'export',
        '-o',
        path('no/out'),
      );
      expect(code).to.equal(1);
      expect(error).to.match(/out\.part: there is no such file or directory\n$/);
    });
  });
});

describe('events import', () => {
  const path = temporaryDirectory();

  it('records every event at its version, under its commit', async () => {
    const [source, target] = [await aStore(), new MemoryEventStore()];
    const { code, out } = await importInto(target, await exported(source));
    expect({ code, out }).to.deep.equal({
      code: 0,
      out: 'The store holds 6 events of 2 users, as they were exported.\n',
    });
    for (const stream of ['alice', 'auth0|{b}'])
      expect(await historyOf(target, stream)).to.deep.equal(await historyOf(source, stream));
    expect(await exported(target)).to.equal(await exported(source));
  });

  it('takes exports of the first version of the format', async () => {
    const [source, target] = [await aStore(), new MemoryEventStore()];
    const out = await exported(source);
    expect(await importInto(target, asVersion1(out))).to.include({ code: 0 });
    expect(await exported(target)).to.equal(out);
    const damaged = asVersion1(out).replace('Fern', 'Farn');
    expect((await importInto(new MemoryEventStore(), damaged)).error).to.contain('line 8 does not have');
  });

  it('appends each commit as one', async () => {
    const target = new MemoryEventStore();
    const sizes: number[] = [];
    const append = target.append.bind(target);
    target.append = (stream, expected, commit, events) => {
      sizes.push(events.length);
      return append(stream, expected, commit, events);
    };
    await importInto(target, await exported(await aStore()));
    expect(sizes).to.deep.equal([1, 2, 3]);
  });

  it('brings back exactly what was recorded, whatever that was', async () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 8 });
    const history = fc.array(
      fc.array(
        fc.record({
          id: fc.bigInt({ min: -(2n ** 63n), max: MAX_INT64 }),
          name: text,
          tag: fc.option(text, { nil: undefined }),
        }),
        { minLength: 1, maxLength: 3 },
      ),
      { maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.tuple(text, history), { selector: ([name]) => name, maxLength: 4 }),
        async (users) => {
          const [source, target] = [new MemoryEventStore(2), new MemoryEventStore(3)];
          for (const [name, commits] of users) {
            const seen = new Set<bigint>();
            for (const commit of commits) {
              const events = commit.flatMap(({ id, name, tag }) => {
                if (seen.has(id)) return [];
                seen.add(id);
                return created(plantId(id), name, tag);
              });
              if (events.length > 0) await record(source, name, events);
            }
          }
          const out = await exported(source);
          expect(await importInto(target, out)).to.include({ code: 0 });
          expect(await exported(target)).to.equal(out);
          for (const [name] of users)
            expect(await historyOf(target, name)).to.deep.equal(await historyOf(source, name));
        },
      ),
      { numRuns: Math.min(RUNS, 200) },
    );
  });

  it('repeats an append that the store carried out before the one that it builds on', async () => {
    const out = await exported(await aStore(), '--user', 'alice');
    // As Redis does where it does not know the script of the first, and another client loads it before the next.
    class LateStart extends MemoryEventStore {
      #later: (() => void) | undefined;
      override async append(...args: Parameters<MemoryEventStore['append']>) {
        const first = args[1].version === 0;
        if (first) await new Promise<void>((resolve) => (this.#later = resolve));
        const result = await super.append(...args);
        if (!first) this.#later?.();
        return result;
      }
    }
    const store = new LateStart();
    const { code, error } = await importInto(store, out, '--quiet');
    expect({ code, error }).to.deep.equal({ code: 0, error: '' });
    expect(await historyOf(store, 'alice')).to.deep.equal(await historyOf(await aStore(), 'alice'));
  });

  it('can be run again, and goes on where it was interrupted', async () => {
    const [source, target] = [await aStore(), new MemoryEventStore()];
    await record(
      source,
      'alice',
      ...ferns(500).map((fern, index) => [{ ...fern, id: plantId(1000 + index) }]),
    );
    const out = await exported(source);
    const append = target.append.bind(target);
    let left = 300;
    target.append = async (...args) => {
      if (left-- <= 0) throw new StoreUnavailable('away');
      return append(...args);
    };
    const interrupted = await importInto(target, out);
    expect(interrupted).to.include({ code: 3 });
    expect(interrupted.error).to.match(
      /^By now the store has at least \d+ events of the export; the import can be run again\./,
    );
    const half = await historyOf(target, 'alice');
    expect(half.length).to.be.within(200, 302);
    expect(half).to.deep.equal((await historyOf(source, 'alice')).slice(0, half.length));

    target.append = append;
    for (let again = 0; again < 2; again++) {
      expect(await importInto(target, out)).to.include({ code: 0 });
      expect(await exported(target)).to.equal(out);
    }
  });

  it('says on Ctrl-C how far it came, exit code 130, and goes on from there', async () => {
    const [source, target] = [await aStore(), new MemoryEventStore()];
    await record(
      source,
      'alice',
      ...ferns(300).map((fern, index) => [{ ...fern, id: plantId(1000 + index) }]),
    );
    const out = await exported(source);
    const interrupt = new AbortController();
    const append = target.append.bind(target);
    let left = 200;
    target.append = (...args) => {
      if (left-- > 0) return append(...args);
      setImmediate(() => interrupt.abort());
      return new Promise(() => {});
    };
    // A pipe whose writer has not ended.
    const stdin = new PassThrough();
    stdin.write(out);
    expect(
      await carryOut({ store: target, stdin, interrupted: interrupt.signal }, 'events', 'import'),
    ).to.deep.equal({
      code: 130,
      out: '',
      error:
        'By now the store has at least 201 events of the export; the import can be run again.\nplant-store: interrupted\n',
    });
    expect(stdin.destroyed).to.equal(true);
    target.append = append;
    expect(await importInto(target, out)).to.include({ code: 0 });
    expect(await exported(target)).to.equal(out);
  });

  it('has recorded nothing where Ctrl-C comes while it checks the file', async () => {
    writeFileSync(path('in'), await exported(await aStore()));
    const target = new MemoryEventStore();
    const interrupted = AbortSignal.abort();
    expect(await carryOut({ store: target, interrupted }, 'events', 'import', path('in'))).to.include({
      code: 130,
      error: 'plant-store: interrupted; nothing was recorded\n',
    });
    expect(await historyOf(target, 'alice')).to.deep.equal([]);
  });

  it('is content where a history went on since it was imported', async () => {
    const [source, target] = [await aStore(), new MemoryEventStore(2)];
    const out = await exported(source);
    await importInto(target, out);
    await record(target, 'alice', [created(3, 'Ivy')], [created(4, 'Aloe')]);
    expect(await importInto(target, out)).to.include({ code: 0 });
    expect(await historyOf(target, 'alice')).to.have.length(5);
  });

  it('refuses a user who has another history, loses nothing of it, and goes on: exit code 1', async () => {
    const [source, target] = [await aStore(), new MemoryEventStore()];
    await record(
      source,
      'alice',
      ...ferns(200).map((fern, index) => [{ ...fern, id: plantId(100 + index) }]),
    );
    await target.append('alice', BEGINNING, 'alice-0-1', [created(1, 'Fern', 'indoor')]);
    await record(target, 'alice', [created(9, 'Mine')]);
    const before = await historyOf(target, 'alice');

    const { code, out, error } = await importInto(target, await exported(source), '--json');
    expect(code).to.equal(1);
    expect(error).to.equal('refused: alice has another history in the store; it is as it was\n');
    expect(JSON.parse(out)).to.deep.equal({
      streams: 1,
      events: 3,
      refused: [{ stream: 'alice', why: 'has another history in the store; it is as it was' }],
    });
    expect(await historyOf(target, 'alice')).to.deep.equal(before);
    expect(await historyOf(target, 'auth0|{b}')).to.deep.equal(await historyOf(source, 'auth0|{b}'));
  });

  it('reads back what it recorded, and says where that is something else', async () => {
    const target = new MemoryEventStore();
    await target.append('alice', BEGINNING, 'alice-0-1', [created(1, 'Forged', 'indoor')]);
    const { code, error } = await importInto(target, await exported(await aStore()));
    expect(code).to.equal(1);
    expect(error).to.contain('refused: alice was read back, and is not what the export holds');
  });

  describe('refuses what is not an export, by its line and exit code 1:', () => {
    const refusals: readonly (readonly [string, (out: string) => string, RegExp])[] = [
      ['nothing at all', () => '', /ends behind line 0, but its last line is missing/],
      ['something else', () => '{"id":1}\n', /line 1 is not how an export of plant-store begins/],
      ['a later format', (out) => out.replace('"version":2', '"version":3'), /line 1 is not how/],
      [
        'one without its last line',
        (out) => out.replace(/\{"streams".*\n/, ''),
        /ends behind line 7, .* cut short/,
      ],
      ['one cut off within a line', (out) => out.slice(0, out.indexOf('Moss')), /line 5 .* was cut short/],
      ['one cut off within its last line', (out) => out.slice(0, -2), /line 8 .* was cut short/],
      [
        'one that lacks a line',
        (out) => out.replace(/\n[^\n]*"version":2[^\n]*/, ''),
        /line 3 is version 3 where 2 was expected/,
      ],
      ['two, one behind the other', (out) => out + out, /line 9 comes behind the end/],
      ['one with a changed byte', (out) => out.replace('Fern', 'Farn'), /line 8 does not have the seal/],
      [
        'one that was edited, with a SHA-256 of its new content',
        (out) => {
          const body = out.replace('Fern', 'Farn').replace(/\{"streams".*\n$/, '');
          const sha256 = createHash('sha256').update(body).digest('hex');
          return `${body}{"streams":2,"events":6,"seal":"${sha256}"}\n`;
        },
        /line 8 does not have the seal .* a changed export is not imported/,
      ],
      [
        'the same, with its digest as the first version of the format had it',
        (out) => {
          const body = out.replace('Fern', 'Farn').replace(/\{"streams".*\n$/, '');
          const sha256 = createHash('sha256').update(body).digest('hex');
          return `${body}{"streams":2,"events":6,"sha256":"${sha256}"}\n`;
        },
        /line 8 does not have the seal/,
      ],
      [
        'one with a wrong count',
        (out) => out.replace('"events":6', '"events":7'),
        /line 8 counts 7 events of 2 users, where there are 6 of 2/,
      ],
      ['a rounded id', (out) => resealed(out.replace('"id":"1"', '"id":1')), /line 2 is not an event/],
      [
        'an id that is not canonical',
        (out) => resealed(out.replace('"id":"1"', '"id":"01"')),
        /line 2 is not an event/,
      ],
      [
        'an unknown type',
        (out) => resealed(out.replace('PlantDeleted', 'PlantMoved')),
        /line 4 is not an event/,
      ],
      [
        'a member more',
        (out) => resealed(out.replace('"tag":"indoor"', '"tag":"indoor","x":1')),
        /line 2 is not an event/,
      ],
      ['an empty name', (out) => resealed(out.replace('"Moss"', '""')), /line 5 is not an event/],
      ['a lone surrogate', (out) => resealed(out.replace('Moss', '\\ud83c')), /line 5 is not an event/],
      [
        'a broken rule',
        (out) => resealed(out.replace('PlantCreated","id":"2"', 'PlantCreated","id":"1"')),
        /line 3 breaks a rule: event 2 of the history creates an id that is taken/,
      ],
    ];
    for (const [what, damage, says] of refusals) {
      for (const as of ['standard input', 'a file']) {
        it(`${what}, as ${as}`, async () => {
          const damaged = damage(await exported(await aStore()));
          writeFileSync(path('in'), damaged);
          const target = new MemoryEventStore();
          const { code, error } =
            as === 'a file' ? await importInto(target, '', path('in')) : await importInto(target, damaged);
          expect(code).to.equal(1);
          expect(error).to.match(says);
          // What was recorded is whole commits of the original, and from a file it is nothing.
          const alice = await historyOf(target, 'alice');
          if (as === 'a file') expect(alice).to.deep.equal([]);
          expect([0, 1, 3]).to.include(alice.length);
        });
      }
    }

    it('invalid UTF-8', async () => {
      const bytes = Buffer.from(await exported(await aStore()));
      bytes[bytes.indexOf('Moss')] = 0xff;
      expect((await importInto(new MemoryEventStore(), bytes)).error).to.match(/line 5 is not an event/);
    });
  });

  it('takes its input in pieces of any size', async () => {
    const out = await exported(await aStore());
    for (const size of [1, 7, 100]) {
      const pieces = Buffer.from(out);
      const stdin = Readable.from(
        Array.from({ length: Math.ceil(pieces.length / size) }, (_, index) =>
          pieces.subarray(index * size, (index + 1) * size),
        ),
        { objectMode: false },
      );
      const target = new MemoryEventStore();
      expect(await carryOut({ store: target, stdin }, 'events', 'import', '-')).to.include({ code: 0 });
      expect(await exported(target)).to.equal(out);
    }
  });

  it('says which file there is not, and asks for one at a terminal', async () => {
    expect(await importInto(new MemoryEventStore(), '', path('none'))).to.deep.equal({
      code: 1,
      out: '',
      error: `plant-store: ${path('none')}: there is no such file or directory\n`,
    });
    const typed = await carryOut({ isTerminal: true }, 'events', 'import');
    expect(typed.code).to.equal(2);
    expect(typed.error).to.contain('say which file');
  });
});
