import type { Violation } from '../../../runtime/request/errors.js';
import type { TransitionTable } from '../../../runtime/request/states.js';
import { AffiliateStatus, CommissionKind } from '../entities/enums.js';

const { APPLIED, APPROVED, CLOSED, REJECTED, SUSPENDED } = AffiliateStatus;

/** Source: affiliates 3. */
export const AFFILIATE_STATES = {
  [APPLIED]: { approve: APPROVED, reject: REJECTED, close: CLOSED },
  [APPROVED]: { suspend: SUSPENDED, close: CLOSED },
  [SUSPENDED]: { restore: APPROVED, close: CLOSED },
  [REJECTED]: {},
  [CLOSED]: {},
} as const satisfies TransitionTable<AffiliateStatus, 'approve' | 'reject' | 'suspend' | 'restore' | 'close'>;

/** Whether new clicks and purchases are attributed to one. */
export const isLive = (status: AffiliateStatus): boolean => status === APPROVED || status === SUSPENDED;

interface TierTerms {
  key: string;
  rank: number;
  kind: CommissionKind;
  rateBps?: number | null;
  flat?: { currency: string } | null;
  threshold: { currency: string };
}

const hasTwice = <T>(all: readonly T[]): boolean => new Set(all).size < all.length;

/** What is wrong with the tiers of a program in a currency. */
export function tierViolations(tiers: readonly TierTerms[], currency: string): Violation[] {
  const found: Violation[] = [];
  const refuse = (isWrong: boolean, pointer: string, message: string): void =>
    void (isWrong && found.push({ pointer: `/input/tiers${pointer}`, message }));
  refuse(hasTwice(tiers.map(({ key }) => key)), '', 'names a key twice');
  refuse(hasTwice(tiers.map(({ rank }) => rank)), '', 'names a rank twice');
  tiers.forEach(({ kind, rateBps, flat, threshold }, index) => {
    const isPercent = kind === CommissionKind.PERCENT;
    refuse(isPercent !== (rateBps != null), `/${index}/rateBps`, isPercent ? 'is required' : 'is of PERCENT tiers');
    refuse(isPercent === (flat != null), `/${index}/flat`, isPercent ? 'is of FLAT tiers' : 'is required');
    refuse(flat != null && flat.currency !== currency, `/${index}/flat/currency`, 'must be that of the program');
    refuse(threshold.currency !== currency, `/${index}/threshold/currency`, 'must be that of the program');
  });
  return found;
}

/** Programs that read pages, not people. */
const BOT = /bot\b|bot[/;]|crawl|spider|slurp|preview|fetch|curl|wget|python|httpclient|headless|monitor|facebookexternalhit|^$/i;

/** Whether a visit is a program's: it is led on, and not counted. */
export const isBot = (userAgent: string): boolean => BOT.test(userAgent);

/** Whether an address is on one of a brand's hosts, or below one. */
export function isOnHosts(target: string, hosts: readonly string[]): boolean {
  if (!URL.canParse(target)) return false;
  const { protocol, hostname, username, password } = new URL(target);
  const isHost = hosts.some(host => hostname === host.toLowerCase() || hostname.endsWith(`.${host.toLowerCase()}`));
  return protocol === 'https:' && isHost && username === '' && password === '';
}

/** Months whose customers are too few for an amount of each to be shown. Source: affiliates 2. */
export const LEAST_CUSTOMERS = 3;
