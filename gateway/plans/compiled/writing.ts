/** What one pass of the response writer finds out beside the text. */
export interface Writing {
  /** Values that broke their type: null where there must be none, a wrong leaf, an unknown type. */
  faults: number;
  /** A value has another structure than its type: an object for a list, a scalar for an object. */
  broken: boolean;
  /** Texts of objects that stand at several places, by writer; null where none does. */
  texts: Map<Write, Map<object, string>> | null;
}

/** Writes a value as JSON text; `null` also for one that breaks its type, so that a non-null parent can hand it up. */
export type Write = (value: any, writing: Writing) => string;

/** No other value is written so: strings are quoted. */
export const NULL = 'null';
