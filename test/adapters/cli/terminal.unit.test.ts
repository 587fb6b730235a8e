import { Writable } from 'node:stream';
import { expect } from 'chai';
import { Output, escapeForTerminal } from '../../../src/adapters/cli/terminal';
import { rejection } from '../../support/rejection';
import { warningsDuring } from '../../support/warnings';

describe('The output of a command', () => {
  it('rejects the next write after the stream failed', async () => {
    const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
    const output = new Output(stream);
    await output.line('read');
    const broken = new Error('write EPIPE');
    stream.destroy(broken);
    await new Promise(setImmediate);
    expect(await rejection(output.line('not read'))).to.equal(broken);
  });

  it('rejects a pending write when the stream fails', async () => {
    const stream = new Writable({ highWaterMark: 1, write: () => {} });
    const waiting = new Output(stream).line('never read');
    stream.destroy(new Error('write EPIPE'));
    expect(await rejection(waiting)).to.have.property('message', 'write EPIPE');
  });

  it('causes no warning when many writes wait for a slow reader, and leaves no listener', async () => {
    let read = () => {};
    const stream = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => void (read = done) });
    const output = new Output(stream);
    const before = stream.eventNames().map((name) => stream.listenerCount(name));
    const warnings = await warningsDuring(async () => {
      const waiting = Array.from({ length: 20 }, () => output.line('a message'));
      for (let chunk = 0; chunk < 20; chunk++) {
        read();
        await new Promise(setImmediate);
      }
      await Promise.all(waiting);
    });
    expect(warnings).to.deep.equal([]);
    expect(stream.eventNames().map((name) => stream.listenerCount(name))).to.deep.equal(before);
  });

  for (const text of ['Fern', 'Büschelfarn', '観葉植物', '🌵', "d'Or", 'a-b (c)']) {
    it(`prints ${text} unchanged`, () => expect(escapeForTerminal(text)).to.equal(text));
  }

  for (const text of [
    '',
    ' ',
    'a ',
    '"a"',
    'a\n',
    '\u001b[31m',
    '\u009b',
    '\u200e',
    '\u202e',
    '\ufeff',
    '\u00a0',
    '\u00ad',
    '\u{e0001}',
    '\ue000',
  ]) {
    it(`quotes ${JSON.stringify(text)} as JSON`, () => {
      expect(escapeForTerminal(text)).to.match(/^"[ -~]*"$/);
      expect(JSON.parse(escapeForTerminal(text))).to.equal(text);
    });
  }
});
