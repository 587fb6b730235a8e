import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** CHROMIUM_PATH, or else the first Chromium on the PATH. */
function findChromium(): string | undefined {
  if (process.env['CHROMIUM_PATH']) return process.env['CHROMIUM_PATH'];
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A suite that needs a browser. Without one it is pending, or fails if CI is set. */
export function describeBrowser(title: string, body: (browser: () => Browser) => void): void {
  describe(title, function () {
    this.slow(30_000);
    let browser: Browser | undefined;

    before(async function () {
      const executablePath = findChromium();
      if (executablePath !== undefined) {
        browser = await chromium.launch({ executablePath, args: ARGUMENTS });
        return;
      }
      const reason = 'no browser here: no chromium on the PATH, and no CHROMIUM_PATH';
      if (process.env['CI']) throw new Error(`${reason} (CI is set, so this is a failure)`);
      Object.assign(this.test!.parent!, { pendingReason: reason });
      this.skip();
    });
    after(() => browser?.close());
    body(() => browser!);
  });
}
