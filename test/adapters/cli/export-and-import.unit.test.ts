import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { EncodedEvent, Head, StreamName } from '../../../src/event-sourcing';
import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { HEADER, HEADER_2, newSeal, trailerLine } from '../../../src/adapters/cli/event-lines';
import type { PlantCreated, PlantId } from '../../../src/domain';
import { BEGINNING, StoreUnavailable, UnreadableHistory } from '../../../src/event-sourcing';
import { MAX_INT64, RUNS, anyPlant, anyPlantId } from '../../domain/arbitraries';
import { encoded, created, deleted, ferns, plantId, plantsOf } from '../../support/given';
import { temporaryDirectory } from '../../support/temporary-directory';
import { runCli } from './cli-fixture';
import { aStore, historyOf, record } from './histories';

const exported = async (store: MemoryEventStore, ...typed: string[]) =>
  (await runCli({ store }, 'events export --quiet', ...typed)).out;

const importInto = (store: MemoryEventStore, stdin: string | Uint8Array, ...typed: string[]) =>
  runCli({ store, stdin }, 'events import', ...typed);

/** An edited export with a trailer that matches again. */
function resealed(text: string): string {
  const lines = text.split('\n').slice(0, -2);
  const body = lines.map((line) => `${line}\n`).join('');
  const events = lines.slice(1);
  const streams = new Set(events.map((line) => (JSON.parse(line) as { stream: string }).stream)).size;
  return `${body}${trailerLine({ streams, events: events.length, seal: sealed(body) })}`;
}

function sealed(body: string): string {
  const seal = newSeal();
  seal.update(body);
  return seal.digest('hex');
}

/** The same export in version 2 of the format, which names users. */
function asVersion2(text: string): string {
  const body = text
    .replace(HEADER, HEADER_2)
    .replaceAll('"stream":"plants/', '"stream":"')
    .replace(/\{"streams".*\n$/, '');
  const [trailer] = /\{"streams".*\n$/.exec(text)!;
  const seal = newSeal(HEADER_2);
  seal.update(body);
  return body + trailer.replace(/"seal":"\w+"/, `"seal":"${seal.digest('hex')}"`);
}

describe('events export', () => {
  it('writes one event per line, exactly, between a header and a trailer', async () => {
    const store = new MemoryEventStore();
    await record(store, 'bob', [created(plantId(MAX_INT64), 'Fern "1"', '')]);
    await record(store, 'alice', [created(1, 'Moss')], [deleted(1)]);
    const body = [
      '{"format":"plant-store events","version":3}',
      '{"stream":"plants/alice","version":1,"commit":"alice-0-1","type":"PlantCreated","id":"1","name":"Moss"}',
      '{"stream":"plants/alice","version":2,"commit":"alice-1-2","type":"PlantDeleted","id":"1"}',
      '{"stream":"plants/bob","version":1,"commit":"bob-0-1","type":"PlantCreated","id":"9223372036854775807","name":"Fern \\"1\\"","tag":""}',
      '',
    ].join('\n');
    const { code, out, error } = await runCli({ store }, 'events export');
    expect(out).to.equal(`${body}{"streams":2,"events":3,"seal":"${sealed(body)}"}\n`);
    expect({ code, error }).to.deep.equal({ code: 0, error: 'Exported 3 events of 2 streams.\n' });
  });

  it('exports only the users of --user', async () => {
    const store = await aStore();
    await record(store, 'carol', [created(1, 'Ivy')]);
    const out = await exported(store, '--user', 'carol', '--user', 'alice', '--user', 'carol');
    expect([...out.matchAll(/"stream":"plants\/(\w+)"/g)].map(([, name]) => name)).to.deep.equal([
      'alice',
      'alice',
      'alice',
      'carol',
    ]);
  });

  it('exits with 1 when nothing is stored for a user of --user', async () => {
    const { code, error } = await runCli({ store: await aStore() }, 'events export --user alcie');
    expect({ code, error }).to.deep.equal({ code: 1, error: 'plant-store: nothing is stored for alcie\n' });
  });

  it('never ends within a commit while others append', async () => {
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

  it('fails at an unreadable history, and names its user', async () => {
    const store = await aStore();
    store.read = async () => Promise.reject(new UnreadableHistory('entry 3-0 holds no PlantMoved'));
    const { code, out, error } = await runCli({ store }, 'events export');
    expect(code).to.equal(1);
    expect(error).to.match(
      /the events of plants\/alice cannot be read: entry 3-0 .* The export is incomplete/,
    );
    expect(await importInto(new MemoryEventStore(), out)).to.include({ code: 1 });
  });

  it('reports the foreign objects that it skips', async () => {
    const catalogue = Object.assign(new MemoryEventStore(), {
      async *streams() {
        yield { foreign: 'key plant-store:x\n' };
      },
    });
    const { code, error } = await runCli({ catalogue }, 'events export');
    expect({ code, error }).to.deep.equal({
      code: 0,
      error: 'skipped: "key plant-store:x\\n"\nExported 0 events of 0 streams.\n',
    });
  });

  it('applies backpressure: it holds one page while its reader is slow', async () => {
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
    const outcome = runCli({ store, stdout }, 'events export --quiet');
    for (let i = 0; i < 50; i++) await new Promise(setImmediate);
    expect(pages).to.be.below(3);
    const pump = setInterval(() => take(), 0);
    expect(await outcome).to.include({ code: 0 });
    clearInterval(pump);
    expect(taken.split('\n')).to.have.length(2003);
  });

  describe('to a file', () => {
    const path = temporaryDirectory();

    it('replaces the file when the export is complete, readable by its owner only', async () => {
      const store = await aStore();
      writeFileSync(path('out'), 'an earlier export');
      expect(await runCli({ store }, 'events export -o', path('out'))).to.include({
        code: 0,
        out: '',
      });
      expect(readFileSync(path('out'), 'utf8')).to.equal(await exported(store));
      expect(statSync(path('out')).mode & 0o777).to.equal(0o600);
      expect(readdirSync(dirname(path('out')))).to.deep.equal(['out']);
    });

    it('flushes the export to the disk before it replaces the file', async () => {
      writeFileSync(path('out'), 'an earlier export');
      const file = await open(path('out'));
      await file.close();
      const handles = Object.getPrototypeOf(file) as FileHandle;
      const { sync } = handles;
      const atFlush: string[] = [];
      handles.sync = function () {
        atFlush.push(readFileSync(path('out'), 'utf8'));
        return sync.call(this);
      };
      try {
        await exported(await aStore(), '-o', path('out'));
      } finally {
        handles.sync = sync;
      }
      expect(atFlush).to.deep.equal(['an earlier export']);
    });

    it('leaves the earlier file unchanged when it fails', async () => {
      const store = await aStore();
      store.read = async () => Promise.reject(new StoreUnavailable('away'));
      writeFileSync(path('out'), 'an earlier export');
      expect(await runCli({ store }, 'events export -o', path('out'))).to.include({ code: 3 });
      expect(readFileSync(path('out'), 'utf8')).to.equal('an earlier export');
      expect(readdirSync(dirname(path('out')))).to.deep.equal(['out']);
    });

    it('leaves the earlier file unchanged, and no other file, on Ctrl-C: exit code 130', async () => {
      const store = await aStore();
      const interrupt = new AbortController();
      const read = store.read.bind(store);
      let pages = 0;
      store.read = (...args) => {
        if (++pages < 2) return read(...args);
        setImmediate(() => interrupt.abort());
        return new Promise(() => {});
      };
      writeFileSync(path('out'), 'an earlier export');
      expect(
        await runCli({ store, interrupted: interrupt.signal }, 'events export -o', path('out')),
      ).to.deep.equal({
        code: 130,
        out: '',
        error: `plant-store: interrupted; ${path('out')} is unchanged\n`,
      });
      expect(readFileSync(path('out'), 'utf8')).to.equal('an earlier export');
      expect(readdirSync(dirname(path('out')))).to.deep.equal(['out']);
    });

    it('reports a draft that a killed export left, keeps it, and succeeds', async () => {
      const store = await aStore();
      const draft = path('out.0123abcd.part');
      writeFileSync(draft, 'half of an export');
      const { code, error } = await runCli({ store }, 'events export --quiet -o', path('out'));
      expect(code).to.equal(0);
      expect(error).to.match(/^\S+ is a draft of a command that was killed, .*\n$/);
      expect(error.split(' ')[0]).to.equal(draft);
      expect(readdirSync(dirname(draft))).to.deep.equal(['out', 'out.0123abcd.part']);
    });

    it('replaces the target of a symbolic link, and writes to a pipe directly', async () => {
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

    it('says why the file cannot be written', async () => {
      const { code, error } = await runCli({ store: await aStore() }, 'events export -o', path('no/out'));
      expect(code).to.equal(1);
      expect(error).to.match(/out\.[0-9a-f]{8}\.part: there is no such file or directory\n$/);
    });
  });
});

describe('events import', () => {
  const path = temporaryDirectory();

  it('imports exports of version 2 of the format, whose users are the owners of plants', async () => {
    const [source, target] = [await aStore(), new MemoryEventStore()];
    const out = await exported(source);
    expect(await importInto(target, asVersion2(out))).to.include({ code: 0 });
    expect(await exported(target)).to.equal(out);
    const damaged = asVersion2(out).replace('Fern', 'Farn');
    expect((await importInto(new MemoryEventStore(), damaged)).error).to.contain(
      'line 8 has a seal that does not match',
    );
  });

  it('appends a commit of any number of events as a whole', async () => {
    const [source, target] = [new MemoryEventStore(), new MemoryEventStore()];
    await source.append(plantsOf('alice'), BEGINNING, 'large', encoded(...ferns(2500)));
    const sizes: number[] = [];
    const append = target.append.bind(target);
    target.append = (...args) => {
      sizes.push(args[3].length);
      return append(...args);
    };
    await importInto(target, await exported(source));
    expect(sizes).to.deep.equal([2500]);
  });

  it('restores any recorded histories exactly', async () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 8 });
    const history = fc.array(
      fc.array(fc.record({ id: anyPlantId, plant: anyPlant }), { minLength: 1, maxLength: 3 }),
      { maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.tuple(text, history), { selector: ([name]) => name, maxLength: 4 }),
        async (users) => {
          const [source, target] = [new MemoryEventStore(2), new MemoryEventStore(3)];
          for (const [name, commits] of users) {
            const seen = new Set<PlantId>();
            for (const commit of commits) {
              const events = commit.flatMap(({ id, plant }): PlantCreated[] => {
                if (seen.has(id)) return [];
                seen.add(id);
                return [{ type: 'PlantCreated', id, plant }];
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

  it('repeats an append that the store executed before its predecessor', async () => {
    const out = await exported(await aStore(), '--user', 'alice');
    // As Redis does if the script is missing for the first append and another client loads it before the second.
    class LateStart extends MemoryEventStore {
      #later: (() => void) | undefined;
      override async append(
        stream: StreamName,
        expected: Head,
        commit: string,
        events: readonly EncodedEvent[],
      ) {
        const first = expected.version === 0;
        if (first) await new Promise<void>((resolve) => (this.#later = resolve));
        const result = await super.append(stream, expected, commit, events);
        if (!first) this.#later?.();
        return result;
      }
    }
    const store = new LateStart();
    const { code, error } = await importInto(store, out, '--quiet');
    expect({ code, error }).to.deep.equal({ code: 0, error: '' });
    expect(await historyOf(store, 'alice')).to.deep.equal(await historyOf(await aStore(), 'alice'));
  });

  it('is idempotent, and continues where it was interrupted', async () => {
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
    const [, printed] =
      /^The store has at least (\d+) events of the export; the import can be repeated\./.exec(
        interrupted.error,
      )!;
    const half = await historyOf(target, 'alice');
    expect(Number(printed)).to.be.within(200, half.length);
    expect(half.length).to.be.within(200, 302);
    expect(half).to.deep.equal((await historyOf(source, 'alice')).slice(0, half.length));

    target.append = append;
    for (let again = 0; again < 2; again++) {
      expect(await importInto(target, out)).to.include({ code: 0 });
      expect(await exported(target)).to.equal(out);
    }
  });

  it('records nothing when Ctrl-C comes while it checks the file', async () => {
    writeFileSync(path('in'), await exported(await aStore()));
    const target = new MemoryEventStore();
    const interrupted = AbortSignal.abort();
    expect(await runCli({ store: target, interrupted }, 'events import', path('in'))).to.include({
      code: 130,
      error: 'plant-store: interrupted; nothing was recorded\n',
    });
    expect(await historyOf(target, 'alice')).to.deep.equal([]);
  });

  it('accepts a history that was extended after an earlier import', async () => {
    const [source, target] = [await aStore(), new MemoryEventStore(2)];
    const out = await exported(source);
    await importInto(target, out);
    await record(target, 'alice', [created(3, 'Ivy')], [created(4, 'Aloe')]);
    expect(await importInto(target, out)).to.include({ code: 0 });
    expect(await historyOf(target, 'alice')).to.have.length(5);
  });

  it('refuses a user with a different history, leaves it unchanged, and continues: exit code 1', async () => {
    const [source, target] = [await aStore(), new MemoryEventStore()];
    await record(
      source,
      'alice',
      ...ferns(200).map((fern, index) => [{ ...fern, id: plantId(100 + index) }]),
    );
    await target.append(plantsOf('alice'), BEGINNING, 'alice-0-1', encoded(created(1, 'Fern', 'indoor')));
    await record(target, 'alice', [created(9, 'Mine')]);
    const before = await historyOf(target, 'alice');

    const { code, out, error } = await importInto(target, await exported(source), '--json');
    expect(code).to.equal(1);
    expect(error).to.equal('refused: plants/alice has a different history in the store; it is unchanged\n');
    expect(JSON.parse(out)).to.deep.equal({
      streams: 1,
      events: 3,
      refused: [{ stream: 'plants/alice', why: 'has a different history in the store; it is unchanged' }],
    });
    expect(await historyOf(target, 'alice')).to.deep.equal(before);
    expect(await historyOf(target, 'auth0|{b}')).to.deep.equal(await historyOf(source, 'auth0|{b}'));
  });

  it('reads back the history, and refuses the user if it differs', async () => {
    const target = new MemoryEventStore();
    await target.append(plantsOf('alice'), BEGINNING, 'alice-0-1', encoded(created(1, 'Forged', 'indoor')));
    const { code, error } = await importInto(target, await exported(await aStore()));
    expect(code).to.equal(1);
    expect(error).to.contain('refused: plants/alice was read back and differs from the export');
  });

  describe('exits with 1, names the line, and refuses', () => {
    const refusals: readonly (readonly [string, (out: string) => string, RegExp])[] = [
      ['an empty input', () => '', /ends after line 0 without the last line of an export/],
      ['another format', () => '{"id":1}\n', /line 1 is not the first line of an export of plant-store/],
      [
        'a later format version',
        (out) => out.replace('"version":3', '"version":4'),
        /line 1 is not the first/,
      ],
      [
        'an export without its last line',
        (out) => out.replace(/\{"streams".*\n/, ''),
        /ends after line 7 .* truncated/,
      ],
      [
        'an export truncated within a line',
        (out) => out.slice(0, out.indexOf('Moss')),
        /line 5 .* is truncated/,
      ],
      ['an export truncated within its last line', (out) => out.slice(0, -2), /line 8 .* is truncated/],
      [
        'an export with a missing line',
        (out) => out.replace(/\n[^\n]*"version":2[^\n]*/, ''),
        /line 3 has version 3, expected 2/,
      ],
      ['two concatenated exports', (out) => out + out, /line 9 follows the end/],
      [
        'an export with a changed byte',
        (out) => out.replace('Fern', 'Farn'),
        /line 8 has a seal that does not match/,
      ],
      [
        'an edited export with a SHA-256 of its new content',
        (out) => {
          const body = out.replace('Fern', 'Farn').replace(/\{"streams".*\n$/, '');
          const sha256 = createHash('sha256').update(body).digest('hex');
          return `${body}{"streams":2,"events":6,"seal":"${sha256}"}\n`;
        },
        /line 8 has a seal that does not match .* a changed export is not imported/,
      ],
      [
        'an export with a wrong count',
        (out) => out.replace('"events":6', '"events":7'),
        /line 8 counts 7 events of 2 streams, but the export has 6 of 2/,
      ],
      [
        'an export with a wrong number of users',
        (out) => out.replace('"streams":2', '"streams":3'),
        /line 8 counts 6 events of 3 streams, but the export has 6 of 2/,
      ],
      [
        'an id as a JSON number',
        (out) => resealed(out.replace('"id":"1"', '"id":1')),
        /line 2 is not an event/,
      ],
      [
        'an id that is not canonical',
        (out) => resealed(out.replace('"id":"1"', '"id":"01"')),
        /line 2 is not an event/,
      ],
      [
        'an unknown event type',
        (out) => resealed(out.replace('PlantDeleted', 'PlantMoved')),
        /line 4 is not an event/,
      ],
      [
        'an additional member',
        (out) => resealed(out.replace('"tag":"indoor"', '"tag":"indoor","x":1')),
        /line 2 is not an event/,
      ],
      ['an empty name', (out) => resealed(out.replace('"Moss"', '""')), /line 5 is not an event/],
      ['a lone surrogate', (out) => resealed(out.replace('Moss', '\\ud83c')), /line 5 is not an event/],
      [
        'an event that violates a rule',
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
          // From a file nothing is recorded; from standard input only complete commits of the original.
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

  it('reads input chunks of any size', async () => {
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
      expect(await runCli({ store: target, stdin }, 'events import -')).to.include({ code: 0 });
      expect(await exported(target)).to.equal(out);
    }
  });

  it('names a missing file, and requires a file at a terminal', async () => {
    expect(await importInto(new MemoryEventStore(), '', path('none'))).to.deep.equal({
      code: 1,
      out: '',
      error: `plant-store: ${path('none')}: there is no such file or directory\n`,
    });
    const typed = await runCli({ isTerminal: true }, 'events import');
    expect(typed.code).to.equal(2);
    expect(typed.error).to.contain('name a file');
  });
});
