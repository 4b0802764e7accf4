/** A query of one value, with its parameters. Its text is the same for every event of a consumer, so that it is planned once. */
export interface EntranceRead {
  text: string;
  params: unknown[];
}

/** A condition on each of several events, in SQL. */
export interface Condition {
  /** Names an event's own values `own.<name>`. It is the same for every event of a consumer, or one of a few, so that it is planned once. */
  text: string;
  /** Types of these values by name, such as `uuid`; the same wherever the text is. */
  types: Readonly<Record<string, string>>;
  /** In the order of `types`. */
  values: readonly unknown[];
}

const values = new WeakMap<object, unknown>();

/** Keeps for a handler what its consumer's `read` has answered. */
export const noteRead = (context: object, value: unknown): void => void values.set(context, value);

/** What the consumer's `read` answered in this transaction; null where it was not asked, as of a dead letter that is tried again. */
export const readOf = <Value>(context: object): Value | null => (values.get(context) ?? null) as Value | null;
