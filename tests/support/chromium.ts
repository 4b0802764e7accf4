import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium, type Browser } from 'playwright-core';
import { atEnd } from './at-end.js';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where a Chromium is on this machine; null: none, and tests in a real browser cannot run. `scripts/test.mjs` says so, and fails in CI. */
export const CHROMIUM: string | null = process.env.CHROMIUM ?? PLACES.find(place => existsSync(place)) ?? null;

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** What stands for the servers of apps, where a person is sent back to. */
async function startApps(): Promise<number> {
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<title>app</title>'));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(async () => server.close().closeAllConnections());
  return (server.address() as AddressInfo).port;
}

/** A real browser until the end of the file, for which apps answer at these origins. */
export async function startChromium(apps: readonly string[]): Promise<Browser> {
  const port = await startApps();
  const rules = apps.map(origin => `MAP ${new URL(origin).host} 127.0.0.1:${port}`).join(', ');
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: [...FLAGS, `--host-resolver-rules=${rules}`] });
  atEnd(() => browser.close());
  return browser;
}
