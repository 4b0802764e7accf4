export const UUID = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';
/** Names of policies, metrics, sets and codes. */
export const NAME = '^[a-z][a-z0-9_]{1,63}$';
export const NOT_BLANK = '\\S';
