import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { awardBadge, revokeBadge, upsertBadge } from '../commands/badge.js';
import { Badge, UserBadge } from '../entities/badge.js';
import { User, UserStatus } from '../entities/user.js';
import { AwardBadgeInput, RevokeBadgeInput, UpsertBadgeInput } from '../inputs/badge.js';
import { badgesOf } from '../queries/batches.js';

const ADMIN = { service: 'admin:identity' } as const;

@Resolver(() => User)
export class BadgeResolver {
  @Access({ service: '*', user: '*' })
  @FieldResolver(() => [UserBadge], { description: 'Badges that have not expired, newest first.' })
  badges(@Root() { id, status }: User, @Ctx() ctx: Context): Promise<UserBadge[]> | UserBadge[] {
    return status === UserStatus.ERASED ? [] : badgesOf(ctx, id); // erased, or nobody whom the caller may know
  }

  @Access(ADMIN)
  @Mutation(() => Badge, { description: 'Makes a badge, or changes how it is shown.' })
  upsertBadge(@Arg('input', () => UpsertBadgeInput) input: UpsertBadgeInput, @Ctx() ctx: Context): Promise<Badge> {
    return upsertBadge(ctx, input);
  }

  @Access(ADMIN)
  @Mutation(() => UserBadge, { description: 'Gives a user a badge; one that is there already gets the new expiry.' })
  awardBadge(@Arg('input', () => AwardBadgeInput) input: AwardBadgeInput, @Ctx() ctx: Context): Promise<UserBadge> {
    return awardBadge(ctx, input);
  }

  @Access(ADMIN)
  @Mutation(() => Boolean, { description: 'Takes a badge back; whether the user bore it.' })
  revokeBadge(@Arg('input', () => RevokeBadgeInput) input: RevokeBadgeInput, @Ctx() ctx: Context): Promise<boolean> {
    return revokeBadge(ctx, input);
  }
}
