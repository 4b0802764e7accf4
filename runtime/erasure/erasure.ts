import type { DataOf } from '../../events/define.js';
import type { userErasureRequested } from '../../events/catalogue/identity.js';
import type { Context } from '../request/context.js';
import { Problem } from '../request/errors.js';
import { stored } from '../federation/federation.js';

export type ErasureScope = DataOf<typeof userErasureRequested>['scope'];

export interface ErasureRequest {
  userId: string;
  requestId: string;
  scope: ErasureScope;
}

/** The four outcomes that a service confirms to identity. Source: contracts, shared words. */
export interface ErasureOutcome {
  outcome: 'erased' | 'anonymised' | 'retained' | 'nothing_held';
  /** Rows per table that were deleted or changed. */
  records: Readonly<Record<string, number>>;
  /** Law or contract, required for `retained`. */
  basis?: string;
}

/** Erases a user in one transaction, idempotently; `nothing_held` for a service that keeps no personal data. */
export type Erase = 'nothing_held' | ((ctx: Context, request: ErasureRequest) => Promise<ErasureOutcome>);

/** Runs a service's erasure and leaves the proof: an audit row with counts only. */
export async function eraseUser(ctx: Context, erase: Erase, request: ErasureRequest): Promise<ErasureOutcome> {
  const outcome: ErasureOutcome = erase === 'nothing_held' ? { outcome: 'nothing_held', records: {} } : await erase(ctx, request);
  ctx.audit('user.erased', request.userId, { request_id: request.requestId, scope: request.scope, ...outcome });
  return outcome;
}

/** What an earlier run for the same request has left in the audit: deliveries repeat, and the second run would find nothing. */
async function earlierOutcome(ctx: Context, { userId, requestId }: ErasureRequest): Promise<ErasureOutcome | null> {
  const [row] = await ctx.sql<{ details: ErasureOutcome }>(
    `select details from ${ctx.schema}.audit_log where action = 'user.erased' and target = $1 and details->>'request_id' = $2 order by at limit 1`,
    [userId, requestId],
  );
  return row?.details ?? null;
}

const CONFIRM = stored('mutation ConfirmErasure($input: UpdateErasureRequestInput!) { updateErasureRequest(input: $input) { id } }');

/** Refusals that another try would only repeat: identity does not know the request, or has the task confirmed otherwise. */
const FINAL = ['not_found', 'invalid_request', 'conflict'];

async function confirm(ctx: Context, requestId: string, { outcome, records, basis }: ErasureOutcome): Promise<void> {
  const sum = Object.values(records).reduce((total, count) => total + count, 0);
  const confirmation = { service: ctx.slug, outcome: outcome.toUpperCase(), records: sum, retainedBasis: basis ?? null };
  await ctx.federation.run(CONFIRM, { input: { id: requestId, confirmations: [confirmation] } }).catch(error => {
    if (!(error instanceof Problem) || !FINAL.includes(error.code)) throw error;
    ctx.log.warn({ code: error.code, request_id: requestId }, 'identity did not take the confirmation of an erasure');
  });
}

/**
 * Erases a user in a transaction of its own and then tells identity, outside any transaction. Nothing more is stored: when identity
 * cannot be reached it throws, the event is delivered again, and the audit row says what was done. Source: identity 4.11.
 */
export async function eraseAndConfirm(ctx: Context, erase: Erase, request: ErasureRequest): Promise<void> {
  const outcome = (await earlierOutcome(ctx, request)) ?? (await ctx.host.transaction(own => eraseUser(own, erase, request)));
  await confirm(ctx, request.requestId, outcome);
}
