import { posix } from 'node:path';

/**
 * A page as the library has it: a link to a file that is not packed becomes one to the `documentation`, and its text alone
 * as long as no release has the address, or if the file is not in docs.
 *
 * @param path of the page, from the root of the repository.
 */
export function packedPage(
  text: string,
  path: string,
  isPacked: (file: string) => boolean,
  documentation?: string,
): string {
  return text.replaceAll(
    /\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)/g,
    (link, label: string, target: string, section = '') => {
      const file = posix.join(posix.dirname(path), target).replace(/\/$/, '');
      if (isPacked(file)) return link;
      const [folder, ...rest] = file.split('/');
      if (documentation === undefined || folder !== 'docs') return label;
      return `[${label}](${documentation}/${rest.join('/')}${section})`;
    },
  );
}
