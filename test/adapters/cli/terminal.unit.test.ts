import { Writable } from 'node:stream';
import { expect } from 'chai';
import { Output, shown } from '../../../src/adapters/cli/terminal';
import { rejection } from '../../support/rejection';

describe('The output of a command', () => {
  it('rejects at the next word where it broke between two', async () => {
    const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
    const output = new Output(stream);
    await output.line('heard');
    const broken = new Error('write EPIPE');
    stream.destroy(broken);
    await new Promise(setImmediate);
    expect(await rejection(output.line('not heard'))).to.equal(broken);
  });

  it('rejects while it waits for a reader who goes', async () => {
    const stream = new Writable({ highWaterMark: 1, write: () => {} });
    const waiting = new Output(stream).line('never taken');
    stream.destroy(new Error('write EPIPE'));
    expect(await rejection(waiting)).to.have.property('message', 'write EPIPE');
  });

  for (const text of ['Fern', 'Büschelfarn', '観葉植物', '🌵', "d'Or", 'a-b (c)']) {
    it(`shows ${text} as it is`, () => expect(shown(text)).to.equal(text));
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
    it(`quotes ${JSON.stringify(text)}, to be read by any JSON parser`, () => {
      expect(shown(text)).to.match(/^"[ -~]*"$/);
      expect(JSON.parse(shown(text))).to.equal(text);
    });
  }
});
