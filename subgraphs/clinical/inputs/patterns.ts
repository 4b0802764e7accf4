/** A dictionary code or LOINC. */
export const MARKER = '^([a-z][a-z0-9_]{1,47}|[0-9]{1,7}-[0-9])$';
/** Key of a protocol or stack. */
export const KEY = '^[a-z][a-z0-9_]{1,47}$';
/** Visible ASCII without spaces: key of a laboratory or method, reference of a result. */
export const VISIBLE = '^[!-~]+$';
