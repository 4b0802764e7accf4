import { DAY_MS } from '../../../runtime/time/durations.js';

/** User access tokens live for an hour, whatever the client. Source: identity A2. */
export const USER_TOKEN_SECONDS = 3600;

/** No token lives longer. Source: identity A2. */
export const LONGEST_TOKEN_MS = 365 * DAY_MS;

/** A browser session lives for 14 days after its last use. Source: identity A2. */
export const SESSION_SECONDS = 14 * 86_400;

/** A refresh token lives for 90 days from its last use. Source: identity A2. */
export const REFRESH_SECONDS = 90 * 86_400;

/** Lifetimes of a code and of an authorization request. Source: identity A2. */
export const CODE_SECONDS = 60;
export const INTERACTION_SECONDS = 3600;

/** So long a process believes what it has read of a machine client; below the 2 s in which a disabled one must be refused. Source: identity A4. */
export const BELIEVED_MS = 1_000;
