export const FEATURE_KEY = '^[a-z0-9_.-]{2,64}$';
/** Longest text that may be asked for as a key; one that no feature can have is unknown. */
export const MAX_ASKED = 128;
