import { setImmediate as turn } from 'node:timers/promises';
import {
  type AppendResult,
  BEGINNING,
  type EncodedEvent,
  type EventStore,
  StoreUnavailable,
  type StoredEvent,
} from '../../src/event-sourcing';
import {
  changed,
  asJson,
  changedData,
  committing,
  comparingCommits,
  inLatin1,
  latin1,
  naming,
  reading,
  recording,
  withoutEmptyData,
} from './changed-stores';
import { PAGE_SIZE, wholeHistory } from './simulated-place';

/** Stores that each violate one guarantee. Each bug of a store that was ever found belongs here. */
export const BROKEN: Readonly<Record<string, () => EventStore>> = {
  'has no empty text': () => recording(withoutEmptyData),
  'parses JSON': () => recording(asJson),
  'normalizes text': () => recording(changedData((data) => data.normalize('NFC'))),
  'writes text as latin1': () => recording(inLatin1),
  'ends a text at its first NUL': () => recording(changedData((data) => data.replace(/\0[^]*/, '…'))),
  'writes characters of four bytes as question marks': () =>
    recording(changedData((data) => data.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '?'))),
  'cuts commit ids at 36 characters': () => committing((commit) => commit.slice(0, 36)),
  'cuts commit ids at 200 characters': () => committing((commit) => commit.slice(0, 200)),
  'writes commit ids in lower case': () => committing((commit) => commit.toLowerCase()),
  'trims commit ids': () => committing((commit) => commit.trim() || commit),
  'writes commit ids as latin1': () => committing(latin1),
  'compares commit ids without their case': () => comparingCommits((commit) => commit.toLowerCase()),
  'compares commit ids without the blanks at their end': () => comparingCommits((commit) => commit.trimEnd()),
  'compares commit ids in a normal form': () => comparingCommits((commit) => commit.normalize()),
  'accepts only UUIDs as commit ids': () =>
    changed((store) => ({
      append(stream, expected, commit, events) {
        if (commit !== '' && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(commit))
          throw new TypeError(`invalid input syntax for type uuid: ${commit}`);
        return store.append(stream, expected, commit, events);
      },
    })),
  'ignores the commit id of a head at the beginning': () =>
    changed((store) => ({
      read: (stream, after) => store.read(stream, after.version === 0 ? BEGINNING : after),
      append: (stream, expected, ...rest) =>
        store.append(stream, expected.version === 0 ? BEGINNING : expected, ...rest),
    })),
  'records only the first 50 events of an append': () =>
    changed((store) => ({
      append: (stream, expected, commit, events) =>
        store.append(stream, expected, commit, events.slice(0, 50)),
    })),
  'acknowledges all events of an append, and records only the first 50': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        const result = await store.append(stream, expected, commit, events.slice(0, 50));
        if (result.status !== 'appended') return result;
        return { ...result, head: { version: expected.version + events.length, commit } };
      },
    })),
  'refuses an append of more than 100 events': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        if (events.length > 100) throw new StoreUnavailable('too many parameters');
        return store.append(stream, expected, commit, events);
      },
    })),
  'compares versions as text': () =>
    changed((store) => ({
      async read(stream, after) {
        const page = await store.read(stream, after);
        if (page.status === 'reset') return page;
        const newer = (await wholeHistory(store, stream))
          .filter(({ version }) => String(version) > String(after.version))
          .sort((one, other) => (String(one.version) < String(other.version) ? -1 : 1));
        return { status: 'read', events: newer.slice(0, PAGE_SIZE), more: newer.length > PAGE_SIZE };
      },
    })),
  'fails its first read': () => {
    let connected = false;
    return changed((store) => ({
      async read(stream, after) {
        if (connected) return store.read(stream, after);
        connected = true;
        throw new StoreUnavailable('the connection is not open yet');
      },
    }));
  },
  'ignores case in names': () => naming((stream) => stream.toLowerCase()),
  'truncates long names': () => naming((stream) => stream.slice(0, 200)),
  'accepts an append without events': () =>
    changed((store) => ({
      append: async (stream, expected, commit, events) =>
        events.length === 0
          ? { status: 'appended', head: expected }
          : store.append(stream, expected, commit, events),
    })),
  'does not compare commits when it reads': () =>
    changed((store) => ({
      async read(stream, after) {
        const newer = (await wholeHistory(store, stream)).slice(after.version);
        return { status: 'read', events: newer.slice(0, PAGE_SIZE), more: newer.length > PAGE_SIZE };
      },
    })),
  'reports a conflict for every unknown head': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        const result = await store.append(stream, expected, commit, events);
        return result.status === 'reset' ? { status: 'conflict', events: [], more: false } : result;
      },
    })),
  'sets `more` at the end': () => reading((result) => ({ ...result, more: result.events.length > 0 })),
  'never sets `more`': () => reading((result) => ({ ...result, more: false })),
  'omits the first event of a page': () =>
    reading((result) => (result.more ? { ...result, events: result.events.slice(1) } : result)),
  'returns more than a page': () =>
    changed((store) => ({
      async read(stream, after) {
        const first = await store.read(stream, after);
        if (first.status !== 'read') return first;
        return {
          ...first,
          events: (await wholeHistory(store, stream)).slice(after.version),
          more: first.more,
        };
      },
    })),
  'returns no events with a conflict': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        const result = await store.append(stream, expected, commit, events);
        return result.status === 'conflict' ? { ...result, events: [], more: false } : result;
      },
    })),
  'records an append that conflicts': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        const result = await store.append(stream, expected, commit, events);
        if (result.status !== 'conflict') return result;
        const last = (await wholeHistory(store, stream)).at(-1)!;
        await store.append(stream, last, commit, events);
        return result;
      },
    })),
  'recognizes an append only while it is the last': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        const last = (await wholeHistory(store, stream)).at(-1);
        const landed = last !== undefined && last.version > expected.version && last.commit !== commit;
        return store.append(stream, expected, landed ? `${commit} again` : commit, events);
      },
    })),
  'writes event by event': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        let result: AppendResult | undefined;
        for (const [index, event] of events.entries()) {
          const head = index === 0 ? expected : { version: expected.version + index, commit };
          result = await store.append(stream, head, commit, [event]);
          await turn();
        }
        return result ?? store.append(stream, expected, commit, events);
      },
    })),
  'checks and writes in separate steps': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        const result = await store.read(stream, expected);
        await turn();
        const free =
          result.status === 'read' && result.events.length === 0 && events.length > 0 && commit !== '';
        if (!free) return store.append(stream, expected, commit, events);
        const last = (await wholeHistory(store, stream)).at(-1) ?? expected;
        return store.append(stream, last, commit, events);
      },
    })),
  'keeps the objects of its caller': () => {
    const kept = new Map<string, readonly EncodedEvent[]>();
    return changed((store) => ({
      async append(stream, expected, commit, events) {
        const result = await store.append(stream, expected, commit, events);
        const before = kept.get(stream)?.slice(0, expected.version) ?? [];
        if (result.status === 'appended') kept.set(stream, [...before, ...events]);
        return result;
      },
      async read(stream, after) {
        const result = await store.read(stream, after);
        if (result.status !== 'read') return result;
        const events = result.events.map((event) => ({
          ...event,
          data: kept.get(stream)![event.version - 1]!.data,
        }));
        return { ...result, events };
      },
    }));
  },
  'returns a result that changes later': () => {
    const answers = new Map<string, StoredEvent[]>();
    return changed((store) => ({
      async read(stream, after) {
        const result = await store.read(stream, after);
        if (after.version > 0 || result.status !== 'read') return result;
        const answer = answers.get(stream) ?? [];
        answers.set(stream, answer);
        answer.splice(0, answer.length, ...result.events);
        return { ...result, events: answer };
      },
    }));
  },
};
