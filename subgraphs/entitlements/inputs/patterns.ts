export const UUID = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';
export const FEATURE_KEY = '^[a-z0-9_.-]{2,64}$';
export const NOT_BLANK = '\\S';
/** Longest text that may be asked for as a key; one that no feature can have is unknown. */
export const MAX_ASKED = 128;
