import { CommsCategory as Category, CommsChannel } from '../entities/enums.js';
import type { TopicFacts } from './policy.js';

const { EMAIL, SMS, PUSH, IN_APP } = CommsChannel;

interface SeededTopic extends TopicFacts {
  names: Record<string, string>;
  descriptions: Record<string, string>;
}

type Options = Partial<Pick<TopicFacts, 'mandatory' | 'digestible' | 'urgent' | 'allowedChannels'>>;

const topic = (
  key: string,
  category: Category,
  defaultChannels: CommsChannel[],
  [en, de]: [string, string],
  what: string,
  options: Options = {},
): SeededTopic => ({
  key,
  category,
  defaultChannels,
  allowedChannels: defaultChannels,
  mandatory: false,
  digestible: false,
  urgent: false,
  names: { en, de },
  descriptions: { en: what },
  ...options,
});

const { TRANSACTIONAL, CLINICAL, MARKETING } = Category;
const PERSONAL = [EMAIL, PUSH, IN_APP];

/** What messages are about. Source: comms 4.6. */
export const TOPICS: readonly SeededTopic[] = [
  topic('security', TRANSACTIONAL, [EMAIL], ['Security', 'Sicherheit'], 'Sign-in, passwords and devices.', {
    mandatory: true,
    urgent: true,
    allowedChannels: [EMAIL, SMS],
  }),
  topic('account', TRANSACTIONAL, [EMAIL, IN_APP], ['Account', 'Konto'], 'What happens to your account.', {
    mandatory: true,
    allowedChannels: [EMAIL, SMS, IN_APP],
  }),
  topic('billing', TRANSACTIONAL, [EMAIL, IN_APP], ['Payments', 'Zahlungen'], 'Receipts, refunds and invoices.', { mandatory: true }),
  topic('orders', TRANSACTIONAL, [EMAIL, IN_APP], ['Orders', 'Bestellungen'], 'Where your orders are.', {
    mandatory: true,
    allowedChannels: [EMAIL, PUSH, IN_APP],
  }),
  topic('visits', TRANSACTIONAL, PERSONAL, ['Visits', 'Termine'], 'Visits and their reminders.', {
    allowedChannels: [EMAIL, PUSH, SMS, IN_APP],
  }),
  topic('lab_results', CLINICAL, PERSONAL, ['Laboratory', 'Labor'], 'Laboratory orders and results.'),
  topic('protocols', CLINICAL, [PUSH, IN_APP], ['Care plan', 'Behandlungsplan'], 'Your care plan.', { allowedChannels: PERSONAL }),
  topic('check_ins', CLINICAL, [PUSH, IN_APP], ['Check-ins', 'Check-ins'], 'Check-ins that are due.', { allowedChannels: PERSONAL }),
  topic('dose_reminders', CLINICAL, [PUSH, IN_APP], ['Reminders', 'Erinnerungen'], 'Reminders at your own hour.'),
  topic('retest', CLINICAL, PERSONAL, ['Measuring again', 'Neue Messung'], 'When it is time to measure again.'),
  topic('safety', CLINICAL, [EMAIL, PUSH, SMS, IN_APP], ['Safety', 'Sicherheit der Gesundheit'], 'What must not wait.', {
    mandatory: true,
    urgent: true,
  }),
  topic('live', TRANSACTIONAL, [PUSH, IN_APP], ['Live sessions', 'Live-Termine'], 'Sessions that you registered for.', {
    allowedChannels: PERSONAL,
  }),
  topic('messages', TRANSACTIONAL, [PUSH, IN_APP], ['Messages', 'Nachrichten'], 'What people write to you.', { allowedChannels: PERSONAL }),
  topic('community', TRANSACTIONAL, [IN_APP, PUSH], ['Community', 'Community'], 'Mentions, comments and news.', {
    digestible: true,
    allowedChannels: PERSONAL,
  }),
  topic('membership', TRANSACTIONAL, [EMAIL, IN_APP], ['Membership', 'Mitgliedschaft'], 'Your membership.'),
  topic('cash', TRANSACTIONAL, [EMAIL, IN_APP], ['Credit', 'Guthaben'], 'Credit that you get or lose.'),
  topic('affiliates', TRANSACTIONAL, [EMAIL, IN_APP], ['Affiliate', 'Affiliate'], 'Commissions.'),
  topic('offers', MARKETING, [EMAIL], ['Offers', 'Angebote'], 'Offers, if you agreed to them.', { allowedChannels: [EMAIL, SMS, PUSH] }),
  topic('staff_alerts', TRANSACTIONAL, [EMAIL], ['Alerts', 'Meldungen'], 'For staff and contacts of apps.', {
    mandatory: true,
    urgent: true,
  }),
];

const byKey = new Map(TOPICS.map(one => [one.key, one]));
export const topicOf = (key: string): SeededTopic | null => byKey.get(key) ?? null;

/** 0: security, before everything else; 2: adverts; 1: the rest. */
export const laneOf = ({ key, category }: Pick<TopicFacts, 'key' | 'category'>): number =>
  key === 'security' ? 0 : category === MARKETING ? 2 : 1;
