import type { Violation } from '../../../runtime/request/errors.js';

/** Keys that say nothing of a person: ids, codes, times and the few words below. Source: accounting 2, personal data. */
const KEY =
  /^(?:[a-z][a-z0-9_]{0,38}_(?:id|ids|ref|code|key|type|at|on|from|to|count|number|version|region)|rate|purpose|processor|reference|reason|kind|status|quantity|period_start|period_end|currency)$/;
/** Identifiers, codes, times and decimals; no white space and no @, so neither a name nor an address. */
const VALUE = /^[A-Za-z0-9._:+/-]{0,200}$/;
const MAX_KEYS = 20;

/** A description is words of ours about the fact, never about a person. */
export const DESCRIPTION = '^[A-Za-z0-9 .,:;()/#+_-]*$';
export const MAX_DESCRIPTION = 200;

const isPlain = (value: unknown): boolean =>
  typeof value === 'boolean' || Number.isSafeInteger(value) || (typeof value === 'string' && VALUE.test(value));

/** Everything in metadata that is not allowed there. `pointer` leads to it. */
export function metadataViolations(metadata: Readonly<Record<string, unknown>>, pointer: string): Violation[] {
  const keys = Object.keys(metadata);
  const many = keys.length > MAX_KEYS ? [{ pointer, message: `must have at most ${MAX_KEYS} keys` }] : [];
  const wrong = keys.flatMap(key => {
    if (!KEY.test(key)) return [{ pointer: `${pointer}/${key}`, message: 'is not among the keys that metadata takes' }];
    return isPlain(metadata[key])
      ? []
      : [{ pointer: `${pointer}/${key}`, message: 'must be an identifier, a code, an instant or a number' }];
  });
  return [...many, ...wrong];
}
