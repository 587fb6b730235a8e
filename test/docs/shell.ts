import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Block, blocks } from './blocks';

/** The only block of this kind. */
export function theBlock(kind: string): Block {
  const [block, another] = blocks().filter((each) => each.kind === kind);
  if (block === undefined || another !== undefined)
    throw new Error(`there must be one block of the kind ${kind}`);
  return block;
}

/** The commands of the blocks of this kind, each with the output that the page shows. */
export function stepsOf(kind: string): readonly (readonly [command: string, output: string])[] {
  return blocks()
    .filter((each) => each.kind === kind)
    .flatMap(({ text }) => text.split(/^\$ /m).slice(1))
    .map((step) => [
      step.slice(0, step.indexOf('\n')),
      step.slice(step.indexOf('\n') + 1).replace(/\n+$/, '\n'),
    ]);
}

/** The output of a shell into which this text is pasted. The shell ends as soon as `until` has appeared. */
export async function paste(
  text: string,
  environment: Readonly<Record<string, string>> = {},
  until?: RegExp,
  program = 'sh',
): Promise<string> {
  const { PATH, HOME } = process.env;
  const shell = spawn(program, ['-ec', text], { detached: true, env: { PATH, HOME, ...environment } });
  let output = '';
  const note = (chunk: Buffer) => {
    const before = output;
    output += chunk.toString();
    // Like Ctrl-C: signals the shell and all its children.
    if (until?.test(output) && !until.test(before)) process.kill(-shell.pid!, 'SIGINT');
  };
  shell.stdout.on('data', note);
  shell.stderr.on('data', note);
  await once(shell, 'close');
  return output;
}
