import { FOR_UPDATE, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid, type Violation } from '../../../runtime/request/errors.js';
import { OAuthClientAgreement } from '../entities/client-agreement.js';
import { OAuthClient, OAuthClientKind } from '../entities/client.js';
import type { SetClientAgreementInput } from '../inputs/client.js';
import { lockedClient } from '../queries/client.js';
import { allowedScopes } from '../rules/consent.js';
import { OWNER } from '../rules/roles.js';
import { isPhi, scopeSet } from '../rules/scopes.js';
import { applyEffect } from './client-effects.js';

/** @throws Problem forbidden for staff who are no owners. Source: identity 7, rule 15. */
function requireOwner({ caller }: Context): void {
  if (caller.kind === 'user' && !caller.roles.includes(OWNER)) fail('forbidden', 'Agreements are made by owners');
}

function violationsOf(ctx: Context, { scopes, expiresAt }: SetClientAgreementInput): Violation[] {
  const violations = scopes.flatMap((scope, index) =>
    isPhi(scope) ? [] : [{ pointer: `/input/scopes/${index}`, message: 'is no health-data scope' }],
  );
  if (expiresAt && expiresAt <= ctx.now()) violations.push({ pointer: '/input/expiresAt', message: 'must be in the future' });
  return violations;
}

type Change = (agreements: OAuthClientAgreement[]) => OAuthClientAgreement[];

/** Changes agreements of a client; what it may hold then follows: consents are published, sign-ins that hold what was lost end. */
async function withEffect(ctx: Context, client: OAuthClient, change: Change): Promise<void> {
  const agreements = await ctx.em.find(OAuthClientAgreement, { clientId: client.id });
  const unexpired = agreements.map(one => ({ ...one, expiresAt: null })); // an expiry is an end like any other
  const before = allowedScopes(client, unexpired, ctx.now());
  const allowed = allowedScopes(client, change(agreements), ctx.now());
  await applyEffect(ctx, client.id, { before, after: allowed, demoted: false, reason: 'phi_agreement_ended' });
}

/** Lets an app of somebody else hold health-data scopes. @throws Problem forbidden, invalid_request, not_found, conflict. */
export async function setAgreement(ctx: Context, input: SetClientAgreementInput): Promise<OAuthClientAgreement> {
  requireOwner(ctx);
  requireValid(violationsOf(ctx, input));
  const client = await lockedClient(ctx, input.clientId);
  if (client.kind === OAuthClientKind.MACHINE) fail('conflict', 'A machine client holds no health-data scopes');
  const { clientId, documentVersion, signedBy, signedAt, expiresAt = null } = input;
  const row = { clientId, documentVersion, signedBy, scopes: scopeSet(input.scopes), signedAt: signedAt ?? ctx.now(), expiresAt };
  const agreement = Object.assign(new OAuthClientAgreement(), row);
  await withEffect(ctx, client, agreements => {
    ctx.em.persist(agreement);
    ctx.audit('oauth_client.agreement_signed', clientId, { agreement_id: agreement.id, scopes: agreement.scopes });
    return [...agreements, agreement];
  });
  return agreement;
}

async function end(ctx: Context, agreement: OAuthClientAgreement, at: Date): Promise<void> {
  const client = await ctx.em.findOneOrFail(OAuthClient, agreement.clientId, FOR_UPDATE);
  await withEffect(ctx, client, agreements => {
    agreement.endedAt = at;
    ctx.audit('oauth_client.agreement_ended', agreement.clientId, { agreement_id: agreement.id });
    return agreements;
  });
}

/** Ends an agreement: its scopes stop at once, consents are kept. @throws Problem forbidden, not_found. */
export async function endAgreement(ctx: Context, id: string): Promise<OAuthClientAgreement> {
  requireOwner(ctx);
  const agreement = await requireRow(ctx, OAuthClientAgreement, { id, endedAt: null });
  await end(ctx, agreement, ctx.now());
  return agreement;
}

/** Ends the agreement that ran out first by an instant; it ends like those that are ended. Source: identity A9. */
export async function expireAgreement(ctx: Context, by: Date): Promise<void> {
  const due = await ctx.em.findOne(OAuthClientAgreement, { endedAt: null, expiresAt: { $lte: by } }, { orderBy: { expiresAt: 'asc' } });
  if (due) await end(ctx, due, due.expiresAt!);
}
