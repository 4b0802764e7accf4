import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, type Violation, requireValid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { OAuthClient, OAuthClientAgreement, OAuthClientKind } from '../entities/client.js';
import { SetClientAgreementInput } from '../inputs/client.js';
import { allowedScopes } from '../rules/consent.js';
import { OWNER } from '../rules/roles.js';
import { isPhi, scopeSet } from '../rules/scopes.js';
import { lockedClient } from './client-administration.js';
import { applyEffect } from '../commands/client-effects.js';

const AGREES = { service: 'admin:identity', staff: 'admin:identity' } as const;

/** @throws Problem forbidden for staff who are no owners. Source: identity 7, rule 15. */
function requireOwner({ caller }: Context): void {
  if (caller.kind === 'user' && !caller.roles.includes(OWNER)) fail('forbidden', 'Agreements are made by owners');
}

function faultsOf(ctx: Context, input: SetClientAgreementInput): Violation[] {
  const errors = input.scopes.flatMap((scope, index) =>
    isPhi(scope) ? [] : [{ pointer: `/input/scopes/${index}`, message: 'is no health-data scope' }],
  );
  if (input.expiresAt && input.expiresAt <= ctx.now()) errors.push({ pointer: '/input/expiresAt', message: 'must be in the future' });
  return errors;
}

/** Changes agreements of a client; what it may hold then follows: consents are told, sign-ins that hold what was lost end. */
async function withEffect(
  ctx: Context,
  client: OAuthClient,
  change: (agreements: OAuthClientAgreement[]) => OAuthClientAgreement[],
): Promise<void> {
  const agreements = await ctx.em.find(OAuthClientAgreement, { clientId: client.id });
  const before = allowedScopes(
    client,
    agreements.map(one => ({ ...one, expiresAt: null })),
    ctx.now(),
  ); // an expiry is an end like any other
  const after = allowedScopes(client, change(agreements), ctx.now());
  await applyEffect(ctx, client.id, { before, after, demoted: false, reason: 'phi_agreement_ended' });
}

function end(ctx: Context, agreement: OAuthClientAgreement, at: Date): void {
  agreement.endedAt = at;
  ctx.audit('oauth_client.agreement_ended', agreement.clientId, { agreement_id: agreement.id });
}

@Resolver()
export class ClientAgreementAdministrationResolver {
  @Access(AGREES)
  @Mutation(() => OAuthClientAgreement, { description: 'Lets an app of somebody else hold health-data scopes.' })
  async setClientAgreement(
    @Arg('input', () => SetClientAgreementInput) input: SetClientAgreementInput,
    @Ctx() ctx: Context,
  ): Promise<OAuthClientAgreement> {
    requireOwner(ctx);
    const errors = faultsOf(ctx, input);
    requireValid(errors);
    const client = await lockedClient(ctx, input.clientId);
    if (client.kind === OAuthClientKind.MACHINE) fail('conflict', 'A machine client holds no health-data scopes');
    const { clientId, documentVersion, signedBy, signedAt, expiresAt } = input;
    const row = {
      clientId,
      documentVersion,
      signedBy,
      scopes: scopeSet(input.scopes),
      signedAt: signedAt ?? ctx.now(),
      expiresAt: expiresAt ?? null,
    };
    const agreement = Object.assign(new OAuthClientAgreement(), row);
    await withEffect(ctx, client, agreements => {
      ctx.em.persist(agreement);
      ctx.audit('oauth_client.agreement_signed', clientId, { agreement_id: agreement.id, scopes: agreement.scopes });
      return [...agreements, agreement];
    });
    return agreement;
  }

  @Access(AGREES)
  @Mutation(() => OAuthClientAgreement, { description: 'Ends an agreement: its scopes stop at once, consents are kept.' })
  async endClientAgreement(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<OAuthClientAgreement> {
    requireOwner(ctx);
    const agreement = isUuid(id) ? await ctx.em.findOne(OAuthClientAgreement, { id, endedAt: null }) : null;
    if (!agreement) fail('not_found', 'Not found');
    const client = await ctx.em.findOneOrFail(OAuthClient, agreement.clientId, { lockMode: LockMode.PESSIMISTIC_WRITE });
    await withEffect(ctx, client, agreements => {
      end(ctx, agreement, ctx.now());
      return agreements;
    });
    return agreement;
  }
}

/** Agreements that have run out end like those that are ended. Source: identity A9. */
export const agreementExpiry: Timer<Context> = {
  name: 'identity.agreements',
  async next(ctx) {
    const [row] = await ctx.sql<{ at: number | null }>(
      'select extract(epoch from min(expires_at))::float8 * 1000 as at from identity.oauth_client_agreement where ended_at is null and expires_at is not null',
    );
    return row?.at == null ? null : new Date(Math.round(row.at));
  },
  async run(ctx, at) {
    const due = await ctx.em.findOne(OAuthClientAgreement, { endedAt: null, expiresAt: { $lte: at } }, { orderBy: { expiresAt: 'asc' } });
    if (!due) return;
    const client = await ctx.em.findOneOrFail(OAuthClient, due.clientId, { lockMode: LockMode.PESSIMISTIC_WRITE });
    await withEffect(ctx, client, agreements => {
      end(ctx, due, due.expiresAt!);
      return agreements;
    });
  },
  everySeconds: 10,
};
