import { expect } from 'chai';
import { blocks } from './blocks';

const SEPARATOR = '\u0001';

/**
 * Runs the console blocks of a kind in one shell, and checks the outputs that the pages show after the commands.
 * `adapt` replaces addresses of the page; `afterStart` follows a command in the background.
 */
export function play(
  kind: string,
  run: (script: string) => string,
  adapt = (text: string) => text,
  afterStart = '',
): void {
  const text = blocks().flatMap((block) => (block.kind === kind ? block.text : []));
  const steps = text.join('').split(/^\$ /m).slice(1);
  const lines = steps.map((step) => {
    const command = step.slice(0, step.indexOf('\n'));
    // It must not keep the output of the shell open.
    const started = command.replace(/ &$/, ` >server.log 2>&1 & ${afterStart}`);
    return `printf '\\1'; ${adapt(started)}`;
  });
  const outputs = run(lines.join('\n')).split(SEPARATOR).slice(1);
  expect(outputs).to.have.length(steps.length).above(5);
  for (const [index, step] of steps.entries()) {
    const [command, ...output] = step.trim().split('\n');
    if (output.length > 0) expect(outputs[index]!.trim(), command).to.equal(output.join('\n'));
  }
}
