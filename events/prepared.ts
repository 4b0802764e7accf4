/** Texts that PostgreSQL parses and plans once per connection, with the names that it knows them by. */
const names = new Map<string, string>();

/**
 * Notes a statement that runs with every event or request: planning the inbox's insert each time took PostgreSQL 120 of 510 µs. For constant
 * texts whose best plan does not depend on their values, such as reads and writes by key.
 */
export function prepared(text: string): string {
  if (!names.has(text)) names.set(text, `house_${names.size}`);
  return text;
}

/** The name of a `prepared` text. */
export const nameOf = (text: string): string | undefined => names.get(text);
