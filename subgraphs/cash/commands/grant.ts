import { isStaff } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { requireRow } from '../../../runtime/data/rows.js';
import { CashGrantStatus, CashMovementKind } from '../entities/enums.js';
import { CashGrant } from '../entities/grant.js';
import type { CashTermsInput, GrantCashInput, RevokeCashGrantInput } from '../inputs/grant.js';
import { defaultEnd, termViolations } from '../rules/grants.js';
import { enter, openBook, revoke, type Book } from './book.js';

/** Whose a grant is and what it was given for. */
export interface Origin {
  userId: string;
  referenceType: string;
  referenceId: string;
  referenceKey: string;
}

/** What a grant gives, as its row has it. */
export type GrantTerms = Pick<
  CashGrant,
  'source' | 'units' | 'currency' | 'reason' | 'activatesAt' | 'expiresAt' | 'minSubtotal' | 'subjectKinds' | 'maxShareBps'
>;

/** @throws Problem invalid_request naming everything that is wrong. */
export function termsOf(ctx: Context, { source, amount, activatesAt, expiresAt, restrictions, reason }: CashTermsInput): GrantTerms {
  const begin = activatesAt ?? ctx.now();
  const terms = {
    source,
    units: amount.amount,
    currency: amount.currency,
    reason: reason ?? null,
    activatesAt: begin,
    expiresAt: expiresAt ?? defaultEnd(source, begin),
    minSubtotal: restrictions?.minSubtotal?.amount ?? null,
    subjectKinds: [...new Set(restrictions?.subjectKinds)],
    maxShareBps: restrictions?.maxShareBps ?? 10_000,
  };
  requireValid(termViolations({ ...terms, minSubtotalCurrency: restrictions?.minSubtotal?.currency ?? null }, isStaff(ctx.caller)));
  return terms;
}

/** What this user has had in this currency from this source for this reference. */
export function grantFor(
  ctx: Context,
  origin: Origin,
  { currency, source }: Pick<GrantTerms, 'currency' | 'source'>,
): Promise<CashGrant | null> {
  return ctx.em.findOne(CashGrant, { ...origin, currency, source });
}

/** Gives cash in a book that is open. */
export function give(
  ctx: Context,
  book: Book,
  origin: Origin,
  terms: GrantTerms & { revokeOnLapse?: boolean },
  kind?: CashMovementKind,
): CashGrant {
  const grant = Object.assign(new CashGrant(), {
    ...origin,
    ...terms,
    left: terms.units,
    state: CashGrantStatus.SCHEDULED,
    createdAt: book.now,
  });
  const { id, userId, source, units, currency } = grant;
  ctx.audit('cash_grant.created', id, {
    user_id: userId,
    source,
    amount: units,
    currency,
    reference: `${origin.referenceType}:${origin.referenceId}`,
  });
  return enter(ctx, book, grant, kind);
}

/** The first one again, with status 200. @throws Problem idempotency_mismatch for another amount. */
function repeated(ctx: Context, before: CashGrant, units: number): CashGrant {
  if (before.units !== units) fail('idempotency_mismatch', 'This reference was granted another amount');
  ctx.audit('cash_grant.repeated', before.id);
  ctx.status(200);
  return before;
}

/** Gives cash to a user, once for each source and reference. */
export async function grantCash(ctx: Context, { userId, reference, ...given }: GrantCashInput): Promise<CashGrant> {
  const terms = termsOf(ctx, given);
  const origin: Origin = {
    userId: userId.toLowerCase(),
    referenceType: reference.type,
    referenceId: reference.id.toLowerCase(),
    referenceKey: reference.key ?? '',
  };
  const book = await openBook(ctx, origin.userId, terms.currency);
  const before = await grantFor(ctx, origin, terms);
  return before ? repeated(ctx, before, terms.units) : give(ctx, book, origin, terms);
}

const { SCHEDULED, ACTIVE } = CashGrantStatus;

/** Takes a grant back as far as it is not spent. @throws Problem conflict unless it is SCHEDULED or ACTIVE. */
export async function revokeGrant(ctx: Context, { id, reference, reason }: RevokeCashGrantInput): Promise<CashGrant> {
  const { userId, currency } = await requireRow(ctx, CashGrant, { id });
  const book = await openBook(ctx, userId, currency);
  const grant = book.grants.get(id.toLowerCase());
  if (!grant || (grant.state !== SCHEDULED && grant.state !== ACTIVE))
    fail('conflict', `a grant that is ${grant?.state ?? 'used up'} cannot be revoked`);
  revoke(ctx, book, grant, reference ? { type: reference.type, id: reference.id.toLowerCase() } : null);
  ctx.audit('cash_grant.revoked', grant.id, { user_id: userId, reason: reason != null });
  return grant;
}

/** Revokes what is live of some grants, in the order of currencies, so that two who do it do not wait for each other. */
export async function revokeAll(
  ctx: Context,
  userId: string,
  grants: readonly CashGrant[],
  by: { type: string; id: string },
): Promise<number> {
  let count = 0;
  for (const currency of [...new Set(grants.map(one => one.currency))].sort()) {
    const book = await openBook(ctx, userId, currency);
    for (const { id } of grants) {
      const grant = book.grants.get(id);
      if (!grant || (grant.state !== SCHEDULED && grant.state !== ACTIVE)) continue;
      revoke(ctx, book, grant, by);
      ctx.audit('cash_grant.revoked', id, { user_id: userId, by: `${by.type}:${by.id}` });
      count += 1;
    }
  }
  return count;
}
