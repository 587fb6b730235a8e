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
  describe(title, function () {
    pendingIf(() => {
      const missing = Object.keys(packages).find((program) => !isOnPath(program));
      return missing && `no ${missing} is on the PATH (Debian: apt-get install ${packages[missing]!})`;
    });
    body.call(this);
  });
}

/** Makes the suite whose body calls this pending if there is a reason, or lets it fail if CI is set. */
export function pendingIf(reasonOf: () => string | undefined): void {
  before(function () {
    const reason = reasonOf();
    if (reason === undefined) return;
    if (process.env.CI) throw new Error(`${reason} (CI is set, so this is a failure)`);
    (this.test!.parent as Mocha.Suite & { pendingReason?: string }).pendingReason = reason;
    this.skip();
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
