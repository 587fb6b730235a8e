/** The example docs/examples/live in a browser: its own tests are HTTP requests, and run with the packed package. */
import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import ts from 'typescript';
import { describeBrowser } from '../support/browser';
import { compiled } from '../support/compiled';
import { freePort } from '../support/redis/free-port';
import { temporaryDirectory } from '../support/temporary-directory';

const EXAMPLE = 'docs/examples/live';

describeBrowser('The example of a live page, in a browser', (browser) => {
  const path = temporaryDirectory();
  let port: number;
  let server: ChildProcess;
  let windows: readonly [Page, Page];
  /** Errors and warnings of the browser. */
  let complaints: string[];

  before(async () => {
    port = await freePort();
  });

  /** Starts the example with the compiled package in its node_modules. */
  async function start(): Promise<void> {
    server = spawn(process.execPath, [path('dist/server.js')], {
      env: { PORT: String(port) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(server.stdout!, 'data');
  }

  beforeEach(async () => {
    install(path('.'));
    await start();
    complaints = [];
    windows = [await open(), await open()];
  });
  afterEach(async () => {
    for (const window of windows) await window.close();
    server.kill('SIGKILL');
  });

  async function open(): Promise<Page> {
    const page = await browser().newPage();
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.getByText('live', { exact: true }).waitFor();
    return page;
  }

  async function add(page: Page, name: string): Promise<void> {
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Add' }).click();
  }

  const names = (page: Page) => page.getByRole('listitem').allInnerTexts();

  it('shows a plant in every window, as text', async () => {
    await add(windows[0], 'Fern');
    await windows[1].getByText('Fern').waitFor();
    await add(windows[1], '<b>Moss</b>');
    for (const window of windows) {
      await window.getByText('<b>Moss</b>').waitFor();
      expect(await names(window)).to.deep.equal(['Fern', '<b>Moss</b>']);
    }
    expect(complaints).to.deep.equal([]);
  });

  it('is live again after a restart of the server, and shows the plants that there are then', async () => {
    await add(windows[0], 'Fern');
    await windows[1].getByText('Fern').waitFor();
    server.kill('SIGKILL');
    await windows[1].getByText('reconnecting').waitFor();
    await start();
    await windows[1].getByText('live', { exact: true }).waitFor();
    await add(windows[1], 'Ivy');
    for (const window of windows) {
      await window.getByText('Ivy').waitFor();
      expect(await names(window)).to.deep.equal(['Ivy']);
    }
  });
});

/** What npm and tsc do, without the registry. Types are checked by `npm run test:package`. */
function install(directory: string): void {
  mkdirSync(join(directory, 'dist'), { recursive: true });
  mkdirSync(join(directory, 'node_modules'), { recursive: true });
  symlinkSync(compiled(), join(directory, 'node_modules/plant-store'));
  for (const file of ['package.json', 'index.html']) copyFileSync(join(EXAMPLE, file), join(directory, file));
  for (const file of readdirSync(EXAMPLE).filter((name) => name.endsWith('.ts'))) {
    const { outputText } = ts.transpileModule(readFileSync(join(EXAMPLE, file), 'utf8'), {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
    });
    writeFileSync(join(directory, 'dist', file.replace(/ts$/, 'js')), outputText);
  }
}
