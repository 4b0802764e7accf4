/** Where texts lead: papers that they cite, items that they link to. Source: content 2.1. */
import { linkedItem, type Mark, type Node } from './rich-text.js';

const targetOf = ({ attrs }: Mark): string | undefined =>
  ((attrs?.paperId as string | undefined) ?? linkedItem(attrs?.href))?.toLowerCase();

/** Ids of the items to which texts somewhere in these values lead. */
export function linkedItems(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(linkedItems);
  if (typeof value !== 'object' || value === null) return [];
  const own = ((value as Node).marks ?? []).flatMap(mark => targetOf(mark) ?? []);
  return [...own, ...Object.values(value).flatMap(linkedItems)];
}

/** The same values; the words that led to a hidden item stay, and lead nowhere. */
export function withoutLinks<Value>(value: Value, hidden: ReadonlySet<string>): Value {
  if (Array.isArray(value)) return value.map((one: unknown) => withoutLinks(one, hidden)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const isOpen = (mark: Mark): boolean => !hidden.has(targetOf(mark) ?? '');
  const entries = Object.entries(value).map(([key, one]: [string, unknown]) => [
    key,
    key === 'marks' ? (one as Mark[]).filter(isOpen) : withoutLinks(one, hidden),
  ]);
  return Object.fromEntries(entries) as Value;
}
