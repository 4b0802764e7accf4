import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Where pictures of the pages go, to be looked at. */
const SHOTS = process.env.SHOTS ?? join(import.meta.dirname, '..', '..', '.data', 'pictures');
/** Rules of accessibility, by their tags. */
export const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const LOOKS = [
  ['phone', 360, 'light'],
  ['desktop', 1280, 'light'],
  ['dark', 1280, 'dark'],
] as const;

async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  for (const [look, width, colorScheme] of LOOKS) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(SHOTS, `${name}-${look}.png`), fullPage: true });
  }
}

/**
 * What is wrong with a page: accessibility in both colour schemes, and widths of phones at which it must be scrolled sideways. Pictures of it
 * in three looks are kept. @param rules in light colours; the dark ones can be wrong in contrast only.
 */
export async function faultsOf(page: Page, name: string, rules: readonly string[] = [...WCAG, 'best-practice']): Promise<string[]> {
  const faults: string[] = [];
  await page.evaluate(axe.source);
  for (const [colorScheme, runOnly] of [
    ['light', rules],
    ['dark', ['color-contrast']],
  ] as const) {
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
