import { parse, TYPE, type MessageFormatElement } from '@formatjs/icu-messageformat-parser';
import { IntlMessageFormat } from 'intl-messageformat';
import { memoText } from '../../../runtime/lazy.js';
import { CommsCategory, CommsChannel } from '../entities/enums.js';

/** Class of a variable: `personal` and `health` ones stay off envelopes and lock screens. */
export type VariableClass = 'plain' | 'personal' | 'health';

/** What a version says, before it is filled in. */
export interface Texts {
  subject?: string | null;
  preheader?: string | null;
  title?: string | null;
  body?: string | null;
  /** Of SMS, and the plain part of e-mail. */
  text?: string | null;
  mjml?: string | null;
  action?: string | null;
  deepLink?: string | null;
  lockScreenBody?: string | null;
  why?: string | null;
}

/** JSON Schema of a template's variables, each property with `x-class`. */
export interface Variables {
  type: 'object';
  properties: Readonly<Record<string, { type: string; format?: string; 'x-class': VariableClass }>>;
  required: readonly string[];
}

/** What every template may name besides its own variables. */
export const BUILT_IN: Readonly<Record<string, VariableClass>> = {
  detail: 'plain',
  has_code: 'plain',
  amount_text: 'plain',
  link: 'plain',
  unsubscribe_url: 'plain',
  preferences_url: 'plain',
  brand: 'plain',
  contact: 'plain',
};

export type Values = Readonly<Record<string, string | number | boolean | Date | null>>;

const { argument, number, date, time, select, plural, tag } = TYPE;
const NAMING = new Set<number>([argument, number, date, time, select, plural]);

function namesIn(elements: readonly MessageFormatElement[]): string[] {
  return elements.flatMap(element => {
    const own = NAMING.has(element.type) ? [(element as { value: string }).value] : [];
    const options = 'options' in element ? Object.values(element.options).flatMap(({ value }) => namesIn(value)) : [];
    return [...own, ...options, ...(element.type === tag ? namesIn(element.children) : [])];
  });
}

/** Styles and comments have braces of their own, which are no variables. */
const FOREIGN = /(<style[\s\S]*?<\/style>|<mj-style[\s\S]*?<\/mj-style>|<!--[\s\S]*?-->)/i;
const pieces = (markup: string): { text: string; isForeign: boolean }[] =>
  markup.split(new RegExp(FOREIGN.source, 'gi')).map((text, index) => ({ text, isForeign: index % 2 === 1 }));

/** Variables that a text names. @throws SyntaxError for a text that is no ICU message. */
export const variablesOf = (text: string): Set<string> => new Set(namesIn(parse(text, { ignoreTag: true })));

const LIMITS: Readonly<Partial<Record<keyof Texts, number>>> = {
  subject: 200,
  preheader: 200,
  why: 120,
  deepLink: 512,
  lockScreenBody: 240,
  mjml: 204_800,
};
const LIMITS_OF_CHANNEL: Readonly<Partial<Record<CommsChannel, Readonly<Partial<Record<keyof Texts, number>>>>>> = {
  sms: { text: 480 },
  push: { title: 65, body: 240 },
};

/** Fields that leave the app in the open: subject, push, SMS. */
const OPEN_FIELDS: Readonly<Record<CommsChannel, readonly (keyof Texts)[]>> = {
  email: ['subject', 'preheader', 'lockScreenBody'],
  push: ['title', 'body', 'lockScreenBody'],
  sms: ['text'],
  in_app: ['lockScreenBody'],
};

/** What a code may stand in: the message is nothing but the code. */
const AUTH_TOPIC = 'security';

interface Publishing {
  channel: CommsChannel;
  texts: Texts;
  variables: Variables;
  topic: { key: string; category: CommsCategory };
}

const FIELDS = ['subject', 'preheader', 'title', 'body', 'text', 'mjml', 'deepLink', 'lockScreenBody', 'why'] as const;

const REQUIRED: Readonly<Record<CommsChannel, readonly (keyof Texts)[]>> = {
  email: ['subject', 'mjml', 'text'],
  push: ['title', 'body'],
  sms: ['text'],
  in_app: ['title', 'body'],
};

function faultsOfField(field: keyof Texts, text: string, { channel, variables, topic }: Publishing): string[] {
  const most = LIMITS_OF_CHANNEL[channel]?.[field] ?? LIMITS[field] ?? Infinity;
  const faults = text.length > most ? [`${field}: has more than ${most} characters`] : [];
  if (/http:\/\//i.test(text)) faults.push(`${field}: links by plain http`);
  let names: Set<string>;
  try {
    names = variablesOf(
      pieces(text)
        .map(({ text: own, isForeign }) => (isForeign ? '' : own))
        .join(''),
    );
  } catch (error) {
    return [...faults, `${field}: is no ICU message (${(error as Error).message.split('\n')[0]})`];
  }
  for (const name of names) {
    const known = variables.properties[name]?.['x-class'] ?? BUILT_IN[name];
    if (known === undefined) faults.push(`${field}: names {${name}}, which is not listed`);
    else if (known !== 'plain' && OPEN_FIELDS[channel].includes(field) && topic.key !== AUTH_TOPIC)
      faults.push(`${field}: shows {${name}}, which is ${known}`);
  }
  return faults;
}

/** Everything that keeps a version from being published. Source: comms 4, publish; rule 7. */
export function publishFaults(publishing: Publishing): string[] {
  const { channel, texts, topic } = publishing;
  const given = FIELDS.flatMap(field => (texts[field] ? [[field, texts[field]] as const] : []));
  const missing = REQUIRED[channel].filter(field => !texts[field]).map(field => `${field}: is missing`);
  const clinical = topic.category === CommsCategory.CLINICAL && !texts.lockScreenBody ? ['lockScreenBody: is missing'] : [];
  const marketing =
    topic.category === CommsCategory.MARKETING && channel === CommsChannel.EMAIL && !/\{unsubscribe_url\}/.test(texts.mjml ?? '');
  return [
    ...missing,
    ...clinical,
    ...(marketing ? ['mjml: has no unsubscribe link'] : []),
    ...given.flatMap(([field, text]) => faultsOfField(field, text, publishing)),
  ];
}

/** CR, LF, NUL and bidirectional overrides leave what becomes a header or a title. */
export const oneLine = (text: string): string =>
  text
    .replace(/[\r\n\t\0]+/g, ' ')
    .replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, '')
    .trim();

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replace(/[&<>"']/g, character => ENTITIES[character]!);

const known = new Map<string, IntlMessageFormat>();
const MOST_KNOWN = 2_000;

function compiled(text: string, locale: string, zone: string): IntlMessageFormat {
  const key = `${locale}\0${zone}\0${text}`;
  let message = known.get(key);
  if (!message) {
    const formats = { date: {}, time: {} } as { date: Record<string, object>; time: Record<string, object> };
    for (const style of ['short', 'medium', 'long', 'full'] as const) {
      formats.date[style] = { timeZone: zone };
      formats.time[style] = { timeZone: zone, timeZoneName: 'short' }; // the zone of a person may be a guess
    }
    message = new IntlMessageFormat(text, locale, formats as never, { ignoreTag: true });
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(key, message);
  }
  return message;
}

const TIMES = /^\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?$/;

/** Texts of times become times, what is missing becomes `none`; for HTML every text is escaped. */
function prepared(values: Values, html: boolean): Record<string, string | number | boolean | Date> {
  const entries = Object.entries(values).map(([name, value]) => {
    if (typeof value === 'string' && TIMES.test(value)) return [name, new Date(value)] as const;
    if (value === null) return [name, 'none'] as const;
    return [name, html && typeof value === 'string' ? escaped(value) : value] as const;
  });
  return Object.fromEntries(entries);
}

/** Fills a text in. @param html whether values are escaped for HTML. */
export function filled(
  text: string,
  values: Values,
  { locale, zone, html = false }: { locale: string; zone: string; html?: boolean },
): string {
  const names = variablesOf(text);
  const all = prepared(values, html);
  for (const name of names) all[name] ??= 'none';
  return String(compiled(text, locale, zone).format(all as never));
}

/** Fills compiled HTML in; values are escaped, and its styles are left alone. */
export const filledHtml = (markup: string, values: Values, { locale, zone }: { locale: string; zone: string }): string =>
  pieces(markup)
    .map(({ text, isForeign }) => (isForeign || text === '' ? text : filled(text, values, { locale, zone, html: true })))
    .join('');

/** Variables that must be there and are not. */
export const missingIn = ({ required }: Variables, values: Values, except: readonly string[] = []): string[] =>
  required.filter(name => values[name] === undefined && !except.includes(name));

const currencyFormat = memoText((key: string): Intl.NumberFormat => {
  const [locale, currency] = key.split(' ');
  return new Intl.NumberFormat(locale, { style: 'currency', currency });
});

/** `$49.00`, as the language writes it. Minor units by ISO 4217. */
export function amountText(amount: unknown, currency: unknown, locale: string): string | null {
  if (typeof amount !== 'number' || typeof currency !== 'string') return null;
  const format = currencyFormat(`${locale} ${currency}`);
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}
