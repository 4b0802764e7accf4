import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Where pictures of the pages go, to be looked at; none when not set. */
const SHOTS = process.env.SHOTS;
/** All rules in light colours; the dark ones can be wrong in contrast only. */
const CHECKS = [
  ['light', ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']],
  ['dark', ['color-contrast']],
] as const;
const LOOKS = [
  ['phone', 360, 'light'],
  ['desktop', 1280, 'light'],
  ['dark', 1280, 'dark'],
] as const;

async function picture(page: Page, name: string): Promise<void> {
  if (!SHOTS) return;
  mkdirSync(SHOTS, { recursive: true });
  for (const [look, width, colorScheme] of LOOKS) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(SHOTS, `${name}-${look}.png`), fullPage: true });
  }
}

/** What is wrong with a page: accessibility in both colour schemes, and widths of phones at which it must be scrolled sideways. */
export async function faultsOf(page: Page, name: string): Promise<string[]> {
  const faults: string[] = [];
  await page.evaluate(axe.source);
  for (const [colorScheme, runOnly] of CHECKS) {
    await page.emulateMedia({ colorScheme });
    const options = JSON.stringify({ resultTypes: ['violations'], runOnly });
    const { violations } = (await page.evaluate(`axe.run(document, ${options})`)) as axe.AxeResults;
    for (const { id, nodes } of violations) faults.push(`${colorScheme}: ${id}, ${nodes.map(node => node.html).join(' ')}`);
  }
  for (const width of [320, 360]) {
    await page.setViewportSize({ width, height: 740 });
    const fits = await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth');
    if (!fits) faults.push(`wider than ${width} px`);
  }
  await picture(page, name);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: 'light' });
  return faults;
}
