import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A fresh directory for each test of the suite whose body calls this; gone behind it. Returns paths in it. */
export function temporaryDirectory(): (name: string) => string {
  let directory = '';
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'plant-store-'))));
  afterEach(() => rmSync(directory, { recursive: true }));
  return (name) => join(directory, name);
}
