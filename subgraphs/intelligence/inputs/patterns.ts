/** Names of policies, metrics, sets and codes. */
export const NAME = '^[a-z][a-z0-9_]{1,63}$';
