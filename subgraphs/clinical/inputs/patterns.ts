/** Identifiers reach `uuid` columns, so anything else is refused as input. */
export const UUID = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';
/** A dictionary code or LOINC. */
export const MARKER = '^([a-z][a-z0-9_]{1,47}|[0-9]{1,7}-[0-9])$';
/** Key of a protocol or stack. */
export const KEY = '^[a-z][a-z0-9_]{1,47}$';
/** Key of a laboratory or method, reference of a result. */
export const WORD = '^[!-~]+$';
