import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { Interrupted, Refused } from '../../../src/adapters/cli/exit';
import { createFile, replaceFile, reportDrafts } from '../../../src/adapters/cli/output-file';
import { Output } from '../../../src/adapters/cli/terminal';
import { rejection } from '../../support/rejection';
import { temporaryDirectory } from '../../support/temporary-directory';

const never = new AbortController().signal;

describe('An output file', () => {
  const path = temporaryDirectory();
  /** The lines that report the drafts of the file `name`. */
  const reported = async (name: string) => {
    const printed = new PassThrough();
    await reportDrafts(path(name), new Output(printed));
    return (await text(printed.end())).split('\n').slice(0, -1);
  };

  it('has the whole output of one command, although another one writes it at the same time', async () => {
    const file = path('both');
    let resume = () => {};
    const slow = replaceFile(
      file,
      async (output) => {
        await output.write('first half, ');
        await new Promise<void>((resolve) => (resume = resolve));
        await output.write('second half');
      },
      never,
    );
    await replaceFile(file, (output) => output.write('another'), never);
    expect(readFileSync(file, 'utf8')).to.equal('another');
    resume();
    await slow;
    expect(readFileSync(file, 'utf8')).to.equal('first half, second half');
    expect(readdirSync(path('.')).filter((name) => name.startsWith('both'))).to.deep.equal(['both']);
  });

  it('is created for its owner, and replaces none that was created meanwhile', async () => {
    const file = path('created');
    await createFile(file, (output) => output.write('one'), never);
    expect(readFileSync(file, 'utf8')).to.equal('one');
    expect(statSync(file).mode & 0o777).to.equal(0o600);

    const other = path('meanwhile');
    const write = async (output: Output) => {
      writeFileSync(other, 'of another command');
      await output.write('two');
    };
    const refused = await rejection(createFile(other, write, never));
    expect(refused).to.be.instanceOf(Refused).and.to.have.property('message', `${other} exists already`);
    expect(readFileSync(other, 'utf8')).to.equal('of another command');
    expect(readdirSync(path('.')).filter((name) => name.endsWith('.part'))).to.deep.equal([]);
  });

  it('has the drafts of killed commands reported by path and time, and left as they are', async () => {
    for (const name of ['out.0123abcd.part', 'out.deadbeef.part']) {
      writeFileSync(path(name), 'half of an export');
      utimesSync(path(name), 1.7e9, 1.7e9);
    }
    for (const name of ['out', 'out.part', 'out.0123abcd', 'about.0123abcd.part', 'out.a.0123abcd.part'])
      writeFileSync(path(name), 'of something else');
    mkdirSync(path('out.ffffffff.part'));
    const report = (name: string) =>
      `${path(name)} is a draft of a command that was killed, or that still writes it ` +
      '(last at 2023-11-14T22:13:20.000Z): delete it if no such command runs.';
    const expected = [report('out.0123abcd.part'), report('out.deadbeef.part')];
    expect(await reported('out')).to.deep.equal(expected);
    expect(readFileSync(path('out.deadbeef.part'), 'utf8')).to.equal('half of an export');

    symlinkSync(path('out'), path('link'));
    expect(await reported('link'), 'of the target of a link').to.deep.equal(expected);
    expect(await reported('no/out'), 'of a directory that does not exist').to.deep.equal([]);
  });

  it('has its own draft reported while a command writes it, and not when it is complete', async () => {
    await replaceFile(
      path('out'),
      async (output) => {
        await output.write('half');
        expect(await reported('out')).to.have.length(1);
      },
      never,
    );
    expect(await reported('out')).to.deep.equal([]);
  });

  it('that is a pipe ends with an interruption, too', async () => {
    const pipe = path('pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = spawn('cat', [pipe], { stdio: 'ignore' });
    const interrupted = new AbortController();
    const write = async (output: Output) => {
      await output.write('one line');
      interrupted.abort();
      await new Promise(() => {});
    };
    expect(await rejection(replaceFile(pipe, write, interrupted.signal))).to.be.instanceOf(Interrupted);
    expect(existsSync(pipe)).to.equal(true);
    reader.kill();
  });
});
