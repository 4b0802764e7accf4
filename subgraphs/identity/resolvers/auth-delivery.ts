import { LockMode } from '@mikro-orm/core';
import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { AuthChallenge, AuthDelivery } from '../entities/challenge.js';
import { challengeState, MAX_DELIVERIES } from '../rules/challenges.js';
import { openField } from '../commands/challenge.js';

async function deliver(ctx: Context, id: string): Promise<AuthDelivery> {
  const challenge = isUuid(id) ? await ctx.em.findOne(AuthChallenge, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  if (!challenge) fail('not_found', 'Not found');
  const state = challengeState(challenge, ctx.now());
  if (state !== 'pending') fail('conflict', `a challenge that is ${state} is not delivered`, { reason: state });
  if (challenge.deliveries >= MAX_DELIVERIES) fail('conflict', 'a challenge is delivered three times', { reason: 'delivered' });
  const { channel, template, locale, expiresAt } = challenge;
  const open = (field: 'recipient' | 'code' | 'link', sealed: Buffer | null) => openField(ctx.host, field, id, sealed);
  const secrets = {
    to: open('recipient', challenge.recipientSealed)!,
    link: open('link', challenge.linkSealed),
    code: open('code', challenge.codeSealed),
  };
  challenge.deliveries++;
  if (challenge.deliveries === MAX_DELIVERIES) Object.assign(challenge, { codeSealed: null, linkSealed: null });
  ctx.audit('challenge.delivered', id, { template, delivery: challenge.deliveries });
  return { channel, template, locale, expiresAt, ...secrets };
}

@Resolver()
export class AuthDeliveryResolver {
  /** A query that counts, so it opens a transaction of its own. Source: identity 4.8. */
  @Access({ internal: 'comms' })
  @Query(() => AuthDelivery, {
    description: 'Address, link and code of a challenge: three times at most, before it ends, each time audited.',
  })
  authDelivery(@Arg('challengeId', () => ID) challengeId: string, @Ctx() ctx: Context): Promise<AuthDelivery> {
    return ctx.host.transaction(own => deliver(own, challengeId), ctx.request);
  }
}
