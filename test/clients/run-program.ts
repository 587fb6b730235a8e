import { spawn } from 'node:child_process';
import { endWithProcess } from '../support/redis/end-with-process';

/** The standard output of a program that ends by itself. Rejects with all output if it fails. */
export function runProgram(program: string, arguments_: readonly string[], input = ''): Promise<string> {
  const child = spawn(program, arguments_);
  const forget = endWithProcess(() => child.kill('SIGKILL'));
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  child.stdin.end(input);
  return new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${program} ended with ${code}:\n${output}${errors}`));
    });
  }).finally(forget);
}
