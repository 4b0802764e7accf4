import type { RegExpMatcher } from 'obscenity';
import { lazyPackage } from '../../../runtime/lazy.js';
import { DAY_MS } from '../../../runtime/time/durations.js';

/** Why a handle cannot be had as such; whether somebody has it is not known here. */
export type HandleFault = 'invalid' | 'reserved' | 'blocked';

/** 3 to 30 of `a-z 0-9 _`, a letter first, no `__`, no `_` at the end. Source: identity 2. */
const SHAPE = /^[a-z](?!.*__)[a-z0-9_]{1,28}[a-z0-9]$/;

/** Names of routes and pages that a handle could be taken for. */
const ROUTES = [
  'account',
  'accounts',
  'addresses',
  'auth',
  'avatar',
  'badges',
  'callback',
  'graphql',
  'grants',
  'healthz',
  'login',
  'logout',
  'metrics',
  'oauth',
  'openapi',
  'password',
  'profile',
  'readyz',
  'sessions',
  'settings',
  'signin',
  'signout',
  'signup',
  'tokens',
  'users',
  'webhooks',
];

const ROLES = [
  'owner',
  'admin',
  'support',
  'clinician',
  'moderator',
  'finance',
  'content_editor',
  'analyst',
  'developer',
  'privacy_officer',
];

const TERMS = ['admin', 'support', 'help', 'root', 'api', 'www', 'me', 'null', 'undefined', 'everyone', 'here'];

/** What the list of obscenities knows as a part of others only. */
const COARSE = ['arsehole', 'asshole', 'bullshit', 'dickhead', 'fucker', 'hitler', 'motherfucker', 'nazi', 'shithead'];

/** A handle as it is compared with what is reserved: `_` dropped, look-alikes folded. Source: identity 2. */
export const foldHandle = (handle: string): string =>
  handle
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .replace(/rn/g, 'm')
    .replace(/0/g, 'o')
    .replace(/[1l]/g, 'i')
    .replace(/5/g, 's');

const RESERVED = new Set([...ROUTES, ...ROLES, ...TERMS].map(foldHandle));
const OBSCENE = new Set(COARSE.map(foldHandle));

const obscenity = lazyPackage<typeof import('obscenity')>(import.meta.url, 'obscenity');
let made: RegExpMatcher | undefined;

function matcher(): RegExpMatcher {
  const { englishDataset, englishRecommendedTransformers, RegExpMatcher } = obscenity();
  return (made ??= new RegExpMatcher({ ...englishDataset.build(), ...englishRecommendedTransformers }));
}

const isWord = (text: string): boolean =>
  matcher()
    .getAllMatches(text)
    .some(match => match.startIndex === 0 && match.endIndex === text.length - 1);

/** Whether the whole handle is an obscene word; `l` and `1` are read as `i` and as themselves. */
function isObscene(handle: string): boolean {
  const dropped = handle.replaceAll('_', '');
  const folded = foldHandle(handle);
  return OBSCENE.has(folded) || [dropped, dropped.replace(/[1i]/g, 'l'), folded].some(isWord);
}

/**
 * What is wrong with a handle by itself; null: nothing.
 * @param handle in lower case.
 * @param names further reserved names in any form: services, brands, handles of staff.
 */
export function handleFault(handle: string, names: readonly string[] = []): HandleFault | null {
  if (!SHAPE.test(handle)) return 'invalid';
  const folded = foldHandle(handle);
  if (RESERVED.has(folded) || names.some(name => foldHandle(name) === folded)) return 'reserved';
  return isObscene(handle) ? 'blocked' : null;
}

/** Handles like this one that could be offered instead, best first; those that break the shape are left out. */
export const handleVariants = (handle: string): string[] =>
  [2, 7, 21, 84, 108, 365].flatMap(n => [`${handle.slice(0, 26)}${n}`, `${handle.slice(0, 26)}_${n}`]).filter(one => SHAPE.test(one));

/** A handle may be changed once in so long. Source: identity 2. */
export const HANDLE_COOLDOWN_MS = 30 * DAY_MS;
/** A handle that was given up is held so long for its owner. Source: identity 2. */
export const HANDLE_HOLD_MS = 90 * DAY_MS;
