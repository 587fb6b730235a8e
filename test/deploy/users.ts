import { readFileSync } from 'node:fs';
import { theBlock } from '../docs/samples';

/**
 * The commands that make the Redis users of the pages: of the service, of operators, and of each
 * task.
 */
export function usersOfPages(): readonly string[] {
  const service = theBlock('redis acl').trim();
  const added = /^\| operators, .* \| `(.*)` \|$/m.exec(
    readFileSync('docs/operations.md', 'utf8'),
  )![1]!;
  const operator = service
    .replace('plant-store', 'plant-store-operator')
    .replace(' (', ` ${added.replaceAll('\\|', '|')} (`);
  return [service, operator, ...theBlock('redis tasks').trim().split('\n')];
}
