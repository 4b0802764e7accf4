import { CREDIT, DEBIT, type EntryDraft } from './entries.js';

type Value = string | number | boolean | null;
/** A field is among these values; `present` and `absent` stand for any value and none. */
type When = Readonly<Record<string, readonly Value[] | 'present' | 'absent'>>;

/** An entry as data. Fields are those of the event, `user_id`, and facts of the books. */
interface RuleLine {
  debit?: string;
  credit?: string;
  /** Fields that are added up, or taken off with `-`; null counts as 0. A line of 0 is left out. */
  amount: readonly string[];
  when?: When;
  /** Field with the id of the flow; `a|b`: the first that is there. */
  flow?: string;
  /** Field with the key of the schedule that a credit of deferred revenue opens. */
  recognition?: string;
}

/** How events of one type are booked; a version is never changed. Source: accounting 5, 9.3. */
export interface PostingRule {
  eventType: string;
  version: number;
  definition: RuleDefinition;
}

export interface RuleDefinition {
  service: string;
  /** Source type; `{status}` is a field. */
  type: string;
  /** Field with the business id. */
  id: string;
  description: string;
  /** Nothing is booked where it does not hold. */
  when?: When;
  metadata: readonly string[];
  lines: readonly RuleLine[];
}

/** The event's data with `user_id` and what the books know of its flow. */
export type Scope = Readonly<Record<string, unknown>>;

export interface RuledPosting {
  source: { service: string; type: string; id: string };
  description: string;
  metadata: Record<string, Value>;
  entries: EntryDraft[];
}

/** The first of `a|b|'text'` that is not null. */
function fieldOf(scope: Scope, names: string): unknown {
  for (const name of names.split('|')) {
    if (name.startsWith("'")) return name.slice(1, -1);
    if (scope[name] !== null && scope[name] !== undefined) return scope[name];
  }
  return null;
}

const holds = (scope: Scope, when: When = {}): boolean =>
  Object.entries(when).every(([name, wanted]) => {
    const value = (scope[name] ?? null) as Value;
    if (typeof wanted === 'string') return (value !== null) === (wanted === 'present');
    return wanted.includes(value);
  });

/** `{tax_region|'unknown'}` of an account or source type; a colon would end the segment. */
const filled = (template: string, scope: Scope): string =>
  template.replaceAll(/\{([^}]+)\}/g, (_, names: string) =>
    String(fieldOf(scope, names))
      .toLowerCase()
      .replaceAll(/[^a-z0-9_.-]/g, '_'),
  );

const total = (scope: Scope, terms: readonly string[]): number =>
  terms.reduce((sum, term) => sum + (term.startsWith('-') ? -1 : 1) * Number(scope[term.replace(/^-/, '')] ?? 0), 0);

function entryOf(scope: Scope, line: RuleLine): EntryDraft | null {
  const amount = holds(scope, line.when) ? total(scope, line.amount) : 0;
  if (amount === 0) return null;
  const currency = String(scope.currency);
  const key = line.recognition && fieldOf(scope, line.recognition);
  const owner = { userId: scope.user_id as string | null, subscriptionId: (scope.subscription_id ?? null) as string | null };
  const isTurned = amount < 0; // a fact below zero is an entry on the other side
  return {
    accountCode: `${filled((line.debit ?? line.credit)!, scope)}:${currency.toLowerCase()}`,
    direction: Boolean(line.debit) === isTurned ? CREDIT : DEBIT,
    amount: Math.abs(amount),
    currency,
    flowId: line.flow ? (fieldOf(scope, line.flow) as string | null) : key ? String(key) : null,
    recognition: key ? { key: String(key), from: null, to: null, ...owner } : null,
  };
}

/** What an event books; null: nothing. Pure, so that a preview and the booking are the same. */
export function applyRule({ definition }: PostingRule, scope: Scope): RuledPosting | null {
  if (!holds(scope, definition.when)) return null;
  const entries = definition.lines.flatMap(line => entryOf(scope, line) ?? []);
  if (entries.length === 0) return null;
  const known = definition.metadata.flatMap(name =>
    scope[name] === null || scope[name] === undefined ? [] : [[name, scope[name]] as const],
  );
  const source = { service: definition.service, type: filled(definition.type, scope), id: String(fieldOf(scope, definition.id)) };
  return { source, description: definition.description, metadata: Object.fromEntries(known) as Record<string, Value>, entries };
}
