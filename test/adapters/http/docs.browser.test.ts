import axe from 'axe-core';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { OPERATIONS } from '../../../src/adapters/http/openapi/operations';
import { describeBrowser } from '../../support/browser';
import { until } from '../../support/until';
import { type WatchedService, startWatched } from '../../support/watched-service';

describeBrowser('In a browser', (browser) => {
  let service: WatchedService;
  let page: Page;
  /** Requests to other origins, and complaints of the browser. */
  let strange: string[];

  before(async () => {
    service = await startWatched({ AUTH_TOKENS: '' });
    strange = [];
    page = await browser().newPage({ viewport: { width: 1280, height: 1000 } });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(`${service.url}/`) && !url.startsWith('data:')) strange.push(url);
    });
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') strange.push(message.text());
    });
    page.on('pageerror', (error) => strange.push(error.message));
    await page.goto(`${service.url}/`);
  });
  // Absent if there is no browser.
  after(() => (service as WatchedService | undefined)?.stop());

  const operation = (id: string) => page.locator(`#operations-Plants-${id}`);

  /** Status and body of the response after a click on the button of an operation. */
  async function execute(at: Locator): Promise<{ status: string; body: string }> {
    await at.getByRole('button', { name: 'Execute' }).click();
    const answer = at.locator('.live-responses-table');
    const status = await answer.locator('td.response-col_status').nth(1).innerText();
    // Shown together with the status or not at all, so there is no need to wait.
    const [body = ''] = await answer.locator('.highlight-code code').allInnerTexts();
    return { status: status.trim(), body };
  }

  it('the page at / has a link to the docs', async () => {
    expect(await page.title()).to.equal('plant-store');
    await page.getByRole('link', { name: 'Read and try the interface' }).click();
    await operation('createPlant').waitFor();
    expect(await page.title()).to.contain('plant-store');
    expect(await page.locator('h1').first().innerText())
      .to.contain('plant-store')
      .and.to.contain('1.0.0');
  });

  it('a person can enter the development token, and create, list and delete a plant', async () => {
    await page.locator('.auth-wrapper .authorize').first().click();
    await page.locator('.auth-container input').fill(service.developmentToken!);
    await page.locator('.auth-btn-wrapper .authorize').click();
    await page.locator('.auth-btn-wrapper .btn-done').click();

    const create = operation('createPlant');
    await create.locator('.opblock-summary-control').click();
    await create.locator('textarea').fill('{"id": 9007199254740993, "name": "Fern"}');
    const created = await execute(create);
    expect(created.status).to.equal('200');
    expect(JSON.parse(created.body)).to.deep.equal({ name: 'Fern' });

    const list = operation('listPlants');
    await list.locator('.opblock-summary-control').click();
    const listed = await execute(list);
    expect(listed.status).to.equal('200');
    expect(JSON.parse(listed.body)).to.deep.equal([{ name: 'Fern' }]);

    const remove = operation('deletePlant');
    await remove.locator('.opblock-summary-control').click();
    await remove.getByPlaceholder('id').fill('9007199254740993');
    expect((await execute(remove)).status).to.equal('204');
  });

  it('the token survives a reload if the user wants it', async () => {
    const wanted = () => page.locator('#keep');
    const isAuthorized = async () => {
      await operation('createPlant').waitFor();
      return (await page.locator('.auth-wrapper .authorize.locked').count()) > 0;
    };
    expect(await isAuthorized()).to.equal(true);
    await Promise.all([page.waitForEvent('load'), wanted().check()]);
    expect(await isAuthorized()).to.equal(true);
    await page.reload();
    expect(await isAuthorized()).to.equal(true);
    expect(await wanted().isChecked()).to.equal(true);
    await Promise.all([page.waitForEvent('load'), wanted().uncheck()]);
    expect(await isAuthorized()).to.equal(false);
    expect(await page.evaluate('localStorage.length')).to.equal(0);
  });

  it('a deletion has an example of its id', async () => {
    await page.goto(`${service.url}/docs`);
    const remove = operation('deletePlant');
    await remove.locator('.opblock-summary-control').click();
    expect(await remove.getByPlaceholder('id').inputValue()).to.equal('1');
  });

  // The schemes differ in colors only.
  for (const [colorScheme, rules] of [
    ['light', undefined],
    ['dark', ['color-contrast', 'link-in-text-block']],
  ] as const) {
    it(`axe finds nothing on the pages in the ${colorScheme} scheme, with the operations open`, async function () {
      this.timeout(300_000);
      const seen = await browser().newPage({ colorScheme, viewport: { width: 1280, height: 1000 } });
      await seen.goto(`${service.url}/`);
      expect(await findings(seen, rules)).to.deep.equal([]);

      await seen.goto(`${service.url}/docs`);
      await seen.locator('#operations-Plants-createPlant').waitFor();
      for (const closed of await seen.locator('.opblock-summary-control').all())
        await closed.dispatchEvent('click');
      expect(await seen.locator('.opblock.is-open').count()).to.equal(Object.keys(OPERATIONS).length);
      await seen.locator('.model-toggle, .json-schema-2020-12-head button').first().waitFor();
      expect(await findings(seen, rules)).to.deep.equal([]);

      await seen.locator('.auth-wrapper .authorize').first().click();
      await seen.locator('.modal-ux').waitFor();
      expect(await findings(seen, rules, '.modal-ux')).to.deep.equal([]);
      await seen.close();
    });
  }

  it('the docs follow the color scheme of the system', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html.dark-mode').waitFor();
    await page.emulateMedia({ colorScheme: 'light' });
    await page.locator('html:not(.dark-mode)').waitFor();
  });

  it('the docs open in the color scheme of the system', async () => {
    const dark = await browser().newPage({ colorScheme: 'dark' });
    await dark.goto(`${service.url}/docs`);
    await dark.locator('html.dark-mode #operations-Plants-createPlant').waitFor();
    await dark.close();
  });

  it('the pages send no request to another origin, and nothing violates their policy', () => {
    expect(strange).to.deep.equal([]);
  });
});

/** What axe finds in a part of a page whose transitions have ended: the rule, and the elements. By default, all of both. */
async function findings(page: Page, rules?: readonly string[], part = 'html'): Promise<readonly string[]> {
  await until(async () => (await page.evaluate('document.getAnimations().length')) === 0);
  await page.evaluate(axe.source);
  const options: axe.RunOptions = { resultTypes: ['violations'], ...(rules && { runOnly: [...rules] }) };
  const { violations } = await page.evaluate<axe.AxeResults>(
    `axe.run(${JSON.stringify(part)}, ${JSON.stringify(options)})`,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
