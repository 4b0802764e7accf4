type Given<Value> = Value | null | undefined;

/** A filter of the conditions that a caller gave: a missing one filters nothing. */
export const given = (conditions: Readonly<Record<string, unknown>>): Record<string, any> =>
  Object.fromEntries(Object.entries(conditions).filter(([, condition]) => condition != null));

/** One of several values; an empty list is one of none. */
export const among = <Value>(values: Given<readonly Value[]>) => values && { $in: [...values] };

/** From one value to another, both inclusive. */
export const between = <Value>(from: Given<Value>, to: Given<Value>) =>
  (from ?? to) == null ? undefined : given({ $gte: from, $lte: to });
