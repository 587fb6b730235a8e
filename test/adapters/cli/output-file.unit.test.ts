import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { Interrupted, Refused } from '../../../src/adapters/cli/exit';
import { createFile, replaceFile } from '../../../src/adapters/cli/output-file';
import type { Output } from '../../../src/adapters/cli/terminal';
import { rejection } from '../../support/rejection';
import { temporaryDirectory } from '../../support/temporary-directory';

const never = new AbortController().signal;

describe('An output file', () => {
  const path = temporaryDirectory();

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
