import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { type Service, bootstrap } from '../../../src/service/bootstrap';
import { readConfig } from '../../../src/service/config';
import { describeBrowser } from '../../support/browser';
import { until } from '../../support/until';

describeBrowser('In a browser', (browser) => {
  let service: Service;
  let page: Page;
  /** Requests to other origins, and complaints of the browser. */
  let strange: string[];

  before(async () => {
    service = await bootstrap(readConfig({ PORT: '0', LOG_LEVEL: 'silent' }).config!);
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
  after(() => (service as Service | undefined)?.stop());

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

  it('the docs follow the color scheme of the system, and all texts of the dark one are readable', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html.dark-mode').waitFor();
    // The transitions of colors.
    await until(async () => (await page.evaluate('document.getAnimations().length')) === 0);
    expect(await page.evaluate(lowestContrast)).to.be.above(3);

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

/**
 * The lowest contrast between a text on the page and its background, from 1 to 21 (WCAG 2.2). An expression, which the
 * browser evaluates.
 */
const lowestContrast = `(() => {
  const colorOf = (text) => text.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = color.map((part) => (part <= 10 ? part / 3294 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const backgroundOf = (element) => {
    const [red, green, blue, opacity = 1] = colorOf(getComputedStyle(element).backgroundColor);
    if (opacity === 1) return [red, green, blue];
    const below = element.parentElement ? backgroundOf(element.parentElement) : [255, 255, 255];
    return [red, green, blue].map((part, index) => part * opacity + below[index] * (1 - opacity));
  };
  const contrastOf = (element) => {
    const text = luminance(colorOf(getComputedStyle(element).color).slice(0, 3));
    const background = luminance(backgroundOf(element));
    return (Math.max(text, background) + 0.05) / (Math.min(text, background) + 0.05);
  };
  const hasText = (element) =>
    element.getClientRects().length > 0 &&
    [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
  return Math.min(...[...document.body.querySelectorAll('*')].filter(hasText).map(contrastOf));
})()`;
