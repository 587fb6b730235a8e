import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * A suite that needs programs on the PATH. Without one of them it is pending, or fails if CI is set.
 *
 * @param packages by program: the package of Debian that has it.
 */
export function describePrograms(
  packages: Readonly<Record<string, string>>,
  title: string,
  body: (this: Mocha.Suite) => void,
): void {
  describe(title, function (this: Mocha.Suite & { pendingReason?: string }) {
    before(function () {
      const missing = Object.keys(packages).find((program) => !isOnPath(program));
      if (missing === undefined) return;
      const reason = `no ${missing} is on the PATH (Debian: apt-get install ${packages[missing]!})`;
      if (process.env.CI) throw new Error(`${reason} (CI is set, so this is a failure)`);
      (this.test!.parent as Mocha.Suite & { pendingReason?: string }).pendingReason = reason;
      this.skip();
    });
    body.call(this);
  });
}

export function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
