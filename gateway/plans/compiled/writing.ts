/** State of one pass of the response writer. */
export interface Writing {
  /** Number of values that do not fit their type: null for a non-null type, a wrong leaf, an unknown type. */
  faults: number;
  /** Whether a value has another structure than its type: an object for a list, a scalar for an object. */
  broken: boolean;
  /** Texts of objects that have several paths, by writer; null when no object has. */
  texts: Map<Write, Map<object, string>> | null;
}

/** Writes a value as JSON text; `null` for one that does not fit its type, which a non-null parent then propagates. */
export type Write = (value: any, writing: Writing) => string;

/** Text of null, and of no other value: strings are quoted. */
export const NULL = 'null';
