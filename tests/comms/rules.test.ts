import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CommsCategory,
  CommsChannel,
  CommsInboxAction,
  CommsInboxItemStatus,
  CommsMessageStatus,
  CommsSuppressionReason,
} from '../../subgraphs/comms/entities/enums.js';
import { filled, filledHtml, missingIn, oneLine, publishFaults, variablesOf, type Variables } from '../../subgraphs/comms/rules/content.js';
import { masked } from '../../subgraphs/comms/rules/addresses.js';
import { seesTopic } from '../../subgraphs/comms/rules/disclosure.js';
import { freshness } from '../../subgraphs/comms/rules/freshness.js';
import { look, type LookFacts } from '../../subgraphs/comms/rules/policy.js';
import { quietUntil, spreadOf, widened } from '../../subgraphs/comms/rules/quiet-hours.js';
import { mayRepeatUnknown, waitAfter } from '../../subgraphs/comms/rules/retry.js';
import { INBOX_STATES, MESSAGE_STATES } from '../../subgraphs/comms/rules/states.js';
import { inboundWord, isSuppressed } from '../../subgraphs/comms/rules/suppression.js';
import { TOPICS, topicOf } from '../../subgraphs/comms/rules/topics.js';

const USER = '0190b3a0-0000-7000-8000-0000000000a1';
const NIGHT = { from: '21:00', to: '08:00' };
const at = (text: string): Date => new Date(text);

describe('quiet hours', () => {
  const until = (now: string, window = NIGHT, zone = 'Europe/Berlin'): string | null => {
    const end = quietUntil(at(now), window, zone, USER);
    return end && new Date(end.getTime() - spreadOf(USER)).toISOString();
  };
  test.each([
    ['22:30 local, before midnight', '2027-01-12T21:30:00Z', '2027-01-13T07:00:00.000Z'],
    ['03:00 local, after midnight', '2027-01-13T02:00:00Z', '2027-01-13T07:00:00.000Z'],
    ['21:00 sharp is inside', '2027-01-12T20:00:00Z', '2027-01-13T07:00:00.000Z'],
    ['08:00 sharp is outside', '2027-01-13T07:00:00Z', null],
    ['noon', '2027-01-12T11:00:00Z', null],
    ['the night in which clocks go forward', '2027-03-27T22:00:00Z', '2027-03-28T06:00:00.000Z'],
    ['the night in which clocks go back', '2027-10-30T21:00:00Z', '2027-10-31T07:00:00.000Z'],
  ])('%s', (_what, now, end) => expect(until(now)).toBe(end));

  test('an end that a DST day lacks is the first instant after the gap', () => {
    expect(until('2027-03-28T00:30:00Z', { from: '01:00', to: '02:30' })).toBe('2027-03-28T01:00:00.000Z');
  });
  test('an end that a DST day has twice is the first', () => {
    expect(until('2027-10-30T23:45:00Z', { from: '01:00', to: '02:30' })).toBe('2027-10-31T00:30:00.000Z');
  });
  test('a window of no length is none, and a day window is not across midnight', () => {
    expect([
      until('2027-01-12T03:00:00Z', { from: '08:00', to: '08:00' }),
      until('2027-01-12T12:00:00Z', { from: '12:00', to: '14:00' }),
    ]).toEqual([null, '2027-01-12T13:00:00.000Z']);
  });
  test.each([
    [NIGHT, { from: '18:00', to: '11:00' }],
    [
      { from: '19:00', to: '15:00' },
      { from: '18:00', to: '16:00' },
    ],
    [
      { from: '09:00', to: '09:00' },
      { from: '09:00', to: '09:00' },
    ],
  ])('a guessed zone widens %o to %o', (window, wide) => expect(widened(window)).toEqual(wide));
  test('no window is ever widened beyond 22 hours', () => {
    const minutes = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
    const time = fc
      .integer({ min: 0, max: 1439 })
      .map(one => `${String(Math.floor(one / 60)).padStart(2, '0')}:${String(one % 60).padStart(2, '0')}`);
    fc.assert(
      fc.property(time, time, (from, to) => {
        const before = (minutes(to) - minutes(from) + 1440) % 1440;
        const wide = widened({ from, to });
        expect((minutes(wide.to) - minutes(wide.from) + 1440) % 1440).toBeLessThanOrEqual(Math.max(1320, before));
      }),
    );
  });
  test('releases are spread over ten minutes, each person always at the same', () => {
    expect([spreadOf(USER) === spreadOf(USER), spreadOf(USER) < 600_000]).toEqual([true, true]);
  });
});

const wishes = {
  channels: { email: true, sms: true, push: true },
  topics: {},
  quiet: NIGHT,
  mentions: 'immediate' as const,
  smsConsent: false,
  marketingConsent: false,
};
const person = (more: object = {}, zone = { zone: 'Europe/Berlin', source: 'settings' as const }) => ({
  userId: USER,
  status: 'ACTIVE',
  zone,
  wishes: { ...wishes, ...more },
});
const facts = (channel: string, topic: string, more: Partial<LookFacts> = {}): LookFacts => ({
  now: at('2027-01-12T11:00:00Z'),
  channel: channel as CommsChannel,
  topic: topicOf(topic)!,
  person: person(),
  template: { missing: [] },
  sendAfter: null,
  expiresAt: null,
  sentLately: 0,
  ...more,
});
const verdict = (one: LookFacts): unknown => {
  const { verdict: found } = look(one);
  return 'go' in found ? 'go' : 'skip' in found ? found.skip : 'later';
};
const NIGHT_TIME = at('2027-01-12T21:30:00Z');

describe('policy', () => {
  test.each<[string, LookFacts, string]>([
    ['an order mail leaves', facts('email', 'orders'), 'go'],
    ['somebody who is not active gets nothing', facts('email', 'orders', { person: { ...person(), status: 'SUSPENDED' } }), 'not_active'],
    ['but of the security of the account', facts('email', 'security', { person: { ...person(), status: 'SUSPENDED' } }), 'go'],
    ['who is erased gets not even that', facts('email', 'security', { person: { ...person(), status: 'ERASED' } }), 'erased'],
    ['no template', facts('email', 'orders', { template: null }), 'no_template'],
    ['a missing variable', facts('email', 'orders', { template: { missing: ['order_number'] } }), 'missing_variable'],
    [
      'a channel that is switched off',
      facts('push', 'live', { person: person({ channels: { ...wishes.channels, push: false } }) }),
      'channel_off',
    ],
    [
      'a topic that is switched off',
      facts('push', 'community', { person: person({ topics: { community: { push: false } } }) }),
      'topic_off',
    ],
    [
      'a mandatory topic ignores the switches',
      facts('email', 'billing', { person: person({ channels: { ...wishes.channels, email: false } }) }),
      'go',
    ],
    ['adverts need consent', facts('email', 'offers'), 'topic_off'],
    ['adverts with consent', facts('email', 'offers', { person: person({ marketingConsent: true }) }), 'go'],
    ['adverts by SMS need a second one', facts('sms', 'offers', { person: person({ marketingConsent: true }) }), 'channel_off'],
    ['adverts by SMS with both', facts('sms', 'offers', { person: person({ marketingConsent: true, smsConsent: true }) }), 'go'],
    [
      'adverts by SMS to where only a guess leads',
      facts('sms', 'offers', {
        person: person({ marketingConsent: true, smsConsent: true }, { zone: 'America/New_York', source: 'brand' as never }),
      }),
      'no_time_zone',
    ],
    ['a fourth advert of a week', facts('email', 'offers', { person: person({ marketingConsent: true }), sentLately: 3 }), 'channel_off'],
    ['an eleventh push of a day', facts('push', 'live', { sentLately: 10 }), 'channel_off'],
    ['an urgent push knows no cap', facts('push', 'safety', { sentLately: 99 }), 'go'],
    ['mentions that are bundled', facts('push', 'community', { person: person({ mentions: 'daily' }) }), 'merged_into_digest'],
    ['mentions in the app are not bundled', facts('in_app', 'community', { person: person({ mentions: 'daily' }) }), 'go'],
    ['push at night waits', facts('push', 'live', { now: NIGHT_TIME }), 'later'],
    ['push of safety at night does not', facts('push', 'safety', { now: NIGHT_TIME }), 'go'],
    ['dose reminders have their own hour', facts('push', 'dose_reminders', { now: NIGHT_TIME }), 'go'],
    ['mail at night does not wait', facts('email', 'orders', { now: NIGHT_TIME }), 'go'],
    [
      'an advert by mail at night waits',
      facts('email', 'offers', { now: NIGHT_TIME, person: person({ marketingConsent: true }) }),
      'later',
    ],
    ['the app does not wait', facts('in_app', 'live', { now: NIGHT_TIME }), 'go'],
    [
      'what ends before the night does',
      facts('push', 'live', { now: NIGHT_TIME, expiresAt: at('2027-01-13T05:00:00Z') }),
      'quiet_hours_expired',
    ],
    ['what is over', facts('email', 'orders', { expiresAt: at('2027-01-12T11:00:00Z') }), 'expired'],
    ['what is for later', facts('email', 'orders', { sendAfter: at('2027-01-12T12:00:00Z') }), 'later'],
  ])('%s', (_what, one, expected) => expect(verdict(one)).toBe(expected));

  test('a guessed zone widens the night, and explain names where it comes from', () => {
    const guessed = facts('push', 'live', {
      now: at('2027-01-13T00:00:00Z'),
      person: person({}, { zone: 'America/New_York', source: 'brand' as never }),
    });
    const { verdict: found, checks } = look(guessed);
    const end = new Date((found as { at: Date }).at.getTime() - spreadOf(USER));
    expect(end.toISOString()).toBe('2027-01-13T16:00:00.000Z'); // eleven in New York
    expect(checks).toContainEqual({ check: 'time_zone', passed: true, fact: 'brand America/New_York' });
  });
});

test.each([
  [1, false, 30_000],
  [2, false, 120_000],
  [3, false, 600_000],
  [4, false, 3_600_000],
  [5, false, 14_400_000],
  [6, false, null],
  [1, true, 2_000],
  [2, true, 15_000],
  [3, true, null],
] as const)('after %i attempts (auth: %s) the wait is %s', (attempts, isAuth, wait) => expect(waitAfter(attempts, isAuth)).toBe(wait));

test.each([
  ['a receipt over SMTP, once', { idempotent: false, marketing: false, retaken: false, isAuth: false, attempts: 1 }, true],
  ['a receipt over SMTP, twice', { idempotent: false, marketing: false, retaken: true, isAuth: false, attempts: 2 }, false],
  ['an advert over SMTP', { idempotent: false, marketing: true, retaken: false, isAuth: false, attempts: 1 }, false],
  [
    'an advert where the provider drops the second',
    { idempotent: true, marketing: true, retaken: false, isAuth: false, attempts: 1 },
    true,
  ],
  ['a sign-in within its attempts', { idempotent: false, marketing: false, retaken: true, isAuth: true, attempts: 2 }, true],
  ['a sign-in after its attempts', { idempotent: false, marketing: false, retaken: false, isAuth: true, attempts: 3 }, false],
])('%s may be repeated when nobody knows what came of it: %o', (_what, one, may) => expect(mayRepeatUnknown(one)).toBe(may));

test('a message that has been sent is never sent again, whatever is reported', () => {
  const after = new Set<string>(['sent']);
  for (let size = 0; size !== after.size;) {
    size = after.size;
    for (const state of after) for (const next of Object.values(MESSAGE_STATES[state as CommsMessageStatus])) after.add(next);
  }
  expect([...after].sort()).toEqual(['bounced', 'complained', 'delivered', 'failed', 'sent']);
});

test.each(Object.values(CommsInboxItemStatus))('an item that is %s', status => {
  const moves = Object.fromEntries(Object.values(CommsInboxAction).map(action => [action, INBOX_STATES[status][action] ?? 'conflict']));
  const open = { read: 'read', unread: 'unseen', archive: 'archived', restore: 'conflict' };
  expect(moves).toEqual(
    {
      unseen: open,
      seen: open,
      read: { ...open, restore: 'read' },
      archived: { read: 'conflict', unread: 'conflict', archive: 'archived', restore: 'read' },
    }[status],
  );
});

describe('suppression', () => {
  const now = at('2027-01-12T11:00:00Z');
  const stop = (reason: string, scope = 'all', expiresAt: Date | null = null) => [
    { reason: reason as CommsSuppressionReason, scope, expiresAt },
  ];
  test.each([
    ['a mailbox that does not exist', 'billing', stop('hard_bounce'), false, true],
    ['a mailbox that does not exist, at sign-in', 'security', stop('hard_bounce'), true, true],
    ['a complaint, for a receipt', 'billing', stop('complaint'), false, false],
    ['a complaint, for visits', 'visits', stop('complaint'), false, true],
    ['a complaint, at sign-in', 'security', stop('complaint'), true, false],
    ['an unsubscription of another topic', 'visits', stop('unsubscribe', 'live'), false, false],
    ['an unsubscription of this topic', 'visits', stop('unsubscribe', 'visits'), false, true],
    ['an unsubscription of adverts', 'offers', stop('unsubscribe', 'marketing'), false, true],
    ['one that is over', 'visits', stop('manual', 'all', now), false, false],
  ] as const)('%s', (_what, topic, stops, isAuth, stopped) => expect(isSuppressed(stops, topicOf(topic)!, isAuth, now)).toBe(stopped));
  test.each([
    ['STOP', 'stop'],
    ['stop please', 'stop'],
    ['Unsubscribe', 'stop'],
    ['END.', 'stop'],
    ['START', 'start'],
    ['help', 'help'],
    ['I cannot stop', null],
    ['', null],
  ])('%s asks for %s', (words, wanted) => expect(inboundWord(words)).toBe(wanted));
});

describe('texts', () => {
  const variables: Variables = {
    type: 'object',
    properties: {
      order_number: { type: 'string', 'x-class': 'plain' },
      title: { type: 'string', 'x-class': 'personal' },
      marker: { type: 'string', 'x-class': 'health' },
    },
    required: ['order_number'],
  };
  const publish = (texts: object, channel = 'push', topic = 'orders'): string[] =>
    publishFaults({ channel: channel as CommsChannel, texts, variables, topic: topicOf(topic)! });
  test.each<[string, string[], RegExp | null]>([
    ['a plain text', publish({ title: 'Order', body: 'Order {order_number}' }), null],
    ['an unlisted variable', publish({ title: 'Order', body: '{unknown}' }), /unknown/],
    ['a link by plain http', publish({ title: 'Order', body: 'http://x.test' }), /plain http/],
    ['a broken message', publish({ title: 'Order', body: '{order_number' }), /ICU/],
    ['a name of a person in a push', publish({ title: 'Order', body: '{title}' }), /personal/],
    ['a health word in a push', publish({ title: '{marker}', body: 'x' }), /health/],
    ['a health word in the app', publish({ title: '{marker}', body: 'x' }, 'in_app'), null],
    ['a health topic without a neutral text', publish({ title: 'x', body: 'y' }, 'in_app', 'retest'), /lockScreenBody/],
    ['an advert without a way out', publish({ subject: 'x', text: 'x', mjml: '<mjml></mjml>' }, 'email', 'offers'), /unsubscribe/],
    ['a subject that is too long', publish({ title: 'x'.repeat(66), body: 'y' }), /65/],
  ])('%s', (_what, faults, expected) => (expected ? expect(faults.join('\n')).toMatch(expected) : expect(faults).toEqual([])));

  test('everything that is wrong is listed at once', () => {
    expect(publish({ title: 'x', body: '{unknown} http://x.test' })).toHaveLength(2);
  });
  test('values are escaped in HTML, and the styles of the mail are left alone', () => {
    const html = '<style>a { color: red }</style><p style="x">{order_number}</p>';
    expect(filledHtml(html, { order_number: '<b>&"' }, { locale: 'en', zone: 'UTC' })).toBe(
      '<style>a { color: red }</style><p style="x">&lt;b&gt;&amp;&quot;</p>',
    );
  });
  test('times are those of the person, and name their zone', () => {
    expect(filled('{t, date, medium} {t, time, short}', { t: '2027-01-12T23:30:00.000Z' }, { locale: 'de', zone: 'Europe/Berlin' })).toBe(
      '13. Jan. 2027 00:30 MEZ',
    );
  });
  test('a header takes no line break and no bidirectional override', () => {
    expect(oneLine('Hello\r\nBcc: x@example.test\u202e')).toBe('Hello Bcc: x@example.test');
  });
  test('variables are found in all branches', () => {
    expect([...variablesOf('{n, plural, one {{a}} other {{b, select, x {{c}} other {}}}}')].sort()).toEqual(['a', 'b', 'c', 'n']);
  });
  test('what is required and not there is named', () => expect(missingIn(variables, { title: 'x' })).toEqual(['order_number']));
  test.each([
    ['email', 'demo@example.test', 'd•••@e•••.test'],
    ['sms', '+14155550142', '+1•••••42'],
  ])('%s %s is shown as %s', (channel, address, shown) => expect(masked(channel as CommsChannel, address)).toBe(shown));
});

describe('freshness', () => {
  const rule = { in: { 'v.status': ['BOOKED'] }, same: { starts_at: 'v.startsAt' } };
  const params = { starts_at: '2027-01-12T10:00:00.000Z', flag_id: 'f', reminder_id: 'r', scheduled_for: '2027-01-12T10:00:00.000Z' };
  test.each([
    ['a visit that is as it was', rule, { v: { status: 'BOOKED', startsAt: '2027-01-12T10:00:00Z' } }, 'fresh'],
    ['a visit that has moved', rule, { v: { status: 'BOOKED', startsAt: '2027-01-12T11:00:00Z' } }, 'stale'],
    ['a visit that is cancelled', rule, { v: { status: 'CANCELLED', startsAt: '2027-01-12T10:00:00Z' } }, 'stale'],
    ['a visit that is gone', rule, { v: null }, 'stale'],
    [
      'a flag that is hidden',
      { rule: 'red_flag' as const },
      { redFlags: { nodes: [{ id: 'f', status: 'OPEN', visibleToMember: false }] } },
      'wait',
    ],
    [
      'a flag that is shown',
      { rule: 'red_flag' as const },
      { redFlags: { nodes: [{ id: 'f', status: 'OPEN', visibleToMember: true }] } },
      'fresh',
    ],
    [
      'a flag that is dismissed',
      { rule: 'red_flag' as const },
      { redFlags: { nodes: [{ id: 'f', status: 'DISMISSED', visibleToMember: true }] } },
      'stale',
    ],
    [
      'a dose that still stands',
      { rule: 'dose' as const },
      { doses: { nodes: [{ id: 'r', status: 'SCHEDULED', scheduledFor: '2027-01-12T10:00:00Z' }] } },
      'fresh',
    ],
    ['a dose of a stopped plan', { rule: 'dose' as const }, { doses: { nodes: [] } }, 'stale'],
    ['a digest without mentions', { some: 'd.items' }, { d: { items: [] } }, 'stale'],
    ['a payment that has been made', { not: { 'p.status': ['SUCCEEDED'] } }, { p: { status: 'SUCCEEDED' } }, 'stale'],
    ['a payment of another kind', { not: { 'p.status': ['SUCCEEDED'] } }, {}, 'fresh'],
  ])('%s', (_what, one, answer, expected) => expect(freshness(one, answer, params)).toBe(expected));
  test('of twelve prompts those that are closed are dropped, and none left is stale', () => {
    const answer = { retestCycles: { nodes: [{ code: 'ldl_c' }] } };
    expect([freshness({ rule: 'retest' }, answer, {}, ['ldl_c', 'hba1c']), freshness({ rule: 'retest' }, answer, {}, ['hba1c'])]).toEqual([
      'fresh',
      'stale',
    ]);
  });
});

test('an app of others sees a health topic only by the scope of an agreement', () => {
  const app = (scopes: string[]) => ({ kind: 'user', firstParty: false, permissions: [], scopes: new Set(['read:inbox', ...scopes]) });
  expect([seesTopic(app([]), 'retest'), seesTopic(app(['read:my_outcomes']), 'retest'), seesTopic(app([]), 'orders')]).toEqual([
    false,
    true,
    true,
  ]);
  expect(TOPICS.filter(topic => topic.category === CommsCategory.CLINICAL && seesTopic(app([]), topic.key))).toEqual([]);
});
