import { beforeAll, describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { retestPrompted } from '../../events/catalogue/clinical.js';
import type { Federation } from '../../runtime/federation/federation.js';
import { newId } from '../../runtime/data/ids.js';
import { fileTemplates, type FileTemplate } from '../../subgraphs/comms/ports/template-files.js';
import { makeStaff } from '../identity/staff.js';
import { CHROMIUM, startChromium } from '../support/chromium.js';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { faultsOf, WCAG } from '../support/sound-page.js';
import { until } from '../support/until.js';
import { captured, emitAs, settle, type Captured } from './asking.js';
import { answered, displayOf, fieldsOf, type Answers } from './owners.js';

/** Every mail, with the example of its template, looked at in a real browser. */
const mails = [...fileTemplates().values()].filter(one => one.channels.includes('email'));
/** Challenges whose links and codes identity is asked for when their mail leaves. */
const challenges = new Map(mails.filter(({ example }) => 'challenge_id' in example).map(one => [newId(), one]));
const challengeOf = (template: FileTemplate): string | undefined => [...challenges].find(([, one]) => one === template)?.[0];
const NOW = '2026-11-20T12:00:00.000Z';
/** What examples say happens. */
const INSTANT = '2026-11-24T10:00:00.000Z';
const EXAMPLE_ID = '0190b3a0-1111-7000-8000-ca13a6b2c965';
const GIFT = { email: 'gift@example.test', name: 'Ada Example', code: 'GIFT-2026', message: 'Enjoy!' };

let p: TestPlatform;
/** By template: what was sent of it. */
const sent = new Map<string, Captured>();

/** Owners show what the template's example says. */
function answerOwners(): void {
  const federation = p.host('comms').federation as { run: Federation['run'] };
  const real = federation.run.bind(federation);
  federation.run = async (document, variables = {}, options) => {
    if (document.source.includes('CommsGift')) return { giftDelivery: GIFT } as never;
    if (document.source.includes('CommsMarkers')) return answered(fieldsOf(document.document), '', () => 'LDL cholesterol') as never;
    const challenge = challenges.get(String(variables.id));
    if (challenge) return { authDelivery: deliveryOf(challenge) } as never;
    const template = mails.find(one => one.document === document);
    return (template ? await displayOf(template, variables, answersOf(template)) : await real(document, variables, options)) as never;
  };
}

const deliveryOf = ({ key: template, example: { link, code } }: FileTemplate) => {
  return { channel: 'EMAIL', to: 'ada@example.test', template, link, code, locale: 'en', expiresAt: INSTANT };
};

function answersOf({ key, display, example }: FileTemplate): Answers {
  const shown = new Map(Object.entries(display).map(([name, path]) => [`${key}.${path}`, example[name]]));
  const known = { flags: [EXAMPLE_ID], doses: [EXAMPLE_ID], codes: [retestPrompted.examples[0]!.code] };
  return { textOf: path => shown.get(path) ?? 'LDL cholesterol', instant: INSTANT, known, refused: [] };
}

const RECIPIENTS = {
  USER: ['user', null],
  STAFF: ['staff_role', 'clinician'],
  CLIENT_OWNER: ['client_owner', 'demo-partner-app'],
} as const;

async function ask(template: FileTemplate): Promise<string> {
  const { key, audience, example, display } = template;
  if (key === 'retest_prompt') return emitAs(p, 'clinical', retestPrompted.name, retestPrompted.examples[0]!); // it knows the markers
  const [recipient_type, recipient_id] = key === 'gift_received' ? ['gift', newId()] : RECIPIENTS[audience];
  const challenge = challengeOf(template);
  const own = Object.fromEntries(Object.entries(example).filter(([name]) => !(name in display)));
  const params = challenge ? { challenge_id: challenge } : own;
  const request = { request_id: newId(), template: key, channels: ['email'], recipient_type, recipient_id, params };
  const rest = { dedupe_key: `looked-at:${key}`, send_after: null, category: 'transactional' };
  return emitAs(
    p,
    challenge ? 'identity' : 'workflow',
    'comms.message.send_requested.v1',
    { ...request, ...rest },
    recipient_type === 'user' ? DEMO : null,
  );
}

async function sendAll(): Promise<void> {
  const ids = await Promise.all(mails.map(ask));
  await until(
    'all to be asked for',
    () => p.sql<{ id: string }>('select distinct event_id as id from comms.inbox where event_id = any($1::uuid[])', [ids]),
    rows => rows.length === ids.length,
  );
  await settle(p);
  await collect();
  for (const advance of WAITS) {
    await p.clock('comms', { advance });
    await collect();
  }
}

/** Prompts to measure again are gathered for a quarter of an hour, and people get few offers. */
const WAITS = ['PT20M', 'PT23H', 'PT24H', 'PT23H'];

/** All that was captured since; it is kept for a day. */
async function collect(): Promise<void> {
  const rows = await p.sql<{ id: string; template: string }>('select id, template from comms.message');
  const templates = new Map(rows.map(({ id, template }) => [id, template]));
  for (const mail of await captured(p, null, 'email')) sent.set(templates.get(mail.message_id)!, mail);
}

/** What a mail asks the net for when it is opened. */
async function opened(page: Page, html: string): Promise<string[]> {
  const asked: string[] = [];
  const note = (request: { url(): string }): void => void asked.push(request.url());
  page.on('request', note);
  await page.setContent(html, { waitUntil: 'load' });
  page.off('request', note);
  return asked;
}

/** Backgrounds that are lighter than half in dark colours. */
async function brightOf(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' });
  const bright = (await page.evaluate(BRIGHT)) as string[];
  await page.emulateMedia({ colorScheme: 'light' });
  return bright.map(name => `dark: ${name} stays bright`);
}
const BRIGHT = `[...document.querySelectorAll('*')].filter(one => {
  const [red, green, blue, alpha = 1] = (getComputedStyle(one).backgroundColor.match(/[\\d.]+/g) ?? []).map(Number);
  return alpha > 0 && red + green + blue > 384;
}).map(one => one.tagName + '.' + one.className)`;

describe.skipIf(!CHROMIUM)('in a real browser (cannot run where no Chromium is installed)', { timeout: 300_000 }, () => {
  beforeAll(async () => {
    p = await platform({ services: ['comms', 'events'] });
    await p.sql('update identity.user_settings set marketing_consent = true');
    await p.sql("update identity.oauth_client set contacts = '{contact@example.test}' where id = 'demo-partner-app'");
    await makeStaff(p, DEMO2, 'clinician');
    await p.clock('comms', { now: NOW });
    answerOwners();
    await sendAll();
  });

  test('every mail has text and colours that can be read, in light and dark, at the width of a phone and of a desk, and asks the net for nothing', async () => {
    expect(mails.map(({ key }) => key).filter(key => !sent.has(key))).toEqual([]);
    const page = await (await startChromium([])).newPage();
    const all: Record<string, string[]> = {};
    // without best-practice: a mail is shown inside the page of whoever reads it, which has the landmarks
    for (const [key, { content }] of sent) {
      const asked = await opened(page, content.html!);
      const faults = [...(await brightOf(page)), ...(await faultsOf(page, `mail-${key}`, WCAG))];
      const found = [...asked.map(url => `asks for ${url}`), ...faults];
      if (found.length > 0) all[key] = found;
    }
    expect(all).toEqual({});
  });
});
