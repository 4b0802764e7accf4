import { Ctx, FieldResolver, ID, Int, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { DateTime, EmailAddress, PhoneNumber } from '../../../runtime/schema/scalars.js';
import { UserSettings } from '../entities/settings.js';
import { User, UserProfile, UserStatus } from '../entities/user.js';
import { emailOf, profileOf, settingsOf } from '../queries/batches.js';
import { knowsBrand, seesPart, viewerOf } from '../queries/viewer.js';
import { seesAccount, seesContact, seesProfile, visibleStatus } from '../rules/visibility.js';
import { Brand } from '../stubs.js';

const ACCOUNT = {
  service: 'admin:identity',
  user: 'read:profile|read:account',
  staff: 'admin:identity:read|admin:identity:moderate',
} as const;

const knows = (user: User, ctx: Context): boolean => seesAccount(viewerOf(ctx.caller, user));
const knowsContact = (user: User, ctx: Context): boolean => seesContact(viewerOf(ctx.caller, user));

/** What only some may know of an account: null for all others, so that a list of users does not break over one of them. */
@Resolver(() => User)
export class UserFieldResolver {
  @FieldResolver(() => UserStatus, { description: 'To strangers, an account that cannot be used is ERASED whatever the reason.' })
  status(@Root() user: User, @Ctx() ctx: Context): UserStatus {
    return visibleStatus(viewerOf(ctx.caller, user), user.status);
  }

  @FieldResolver(() => UserStatus, { nullable: true, description: 'The status, for the owner with read:account and for administrators.' })
  accountStatus(@Root() user: User, @Ctx() ctx: Context): UserStatus | null {
    return knowsContact(user, ctx) ? user.status : null;
  }

  @FieldResolver(() => EmailAddress, { nullable: true })
  async email(@Root() user: User, @Ctx() ctx: Context): Promise<string | null> {
    return knowsContact(user, ctx) ? ((await emailOf(ctx, user.id))?.email ?? null) : null;
  }

  @FieldResolver(() => Boolean, { nullable: true })
  async emailVerified(@Root() user: User, @Ctx() ctx: Context): Promise<boolean | null> {
    if (!knowsContact(user, ctx)) return null;
    const email = await emailOf(ctx, user.id);
    return email && email.verifiedAt !== null;
  }

  @FieldResolver(() => PhoneNumber, { nullable: true, description: 'E.164.' })
  phone(@Root() user: User, @Ctx() ctx: Context): string | null {
    return knowsContact(user, ctx) ? user.phone : null;
  }

  @FieldResolver(() => Boolean, { nullable: true, description: 'False for a number that nobody has confirmed.' })
  phoneVerified(@Root() user: User, @Ctx() ctx: Context): boolean | null {
    return knowsContact(user, ctx) ? user.phone !== null && user.phoneVerifiedAt !== null : null;
  }

  @FieldResolver(() => UserProfile, { nullable: true })
  async profile(@Root() user: User, @Ctx() ctx: Context): Promise<UserProfile | null> {
    const profile = await profileOf(ctx, user.id);
    return profile && seesProfile(viewerOf(ctx.caller, user), user.status, profile.visibility) ? profile : null;
  }

  @Access({ service: 'admin:identity', user: 'read:preferences', staff: 'admin:identity:read' })
  @FieldResolver(() => UserSettings, { nullable: true })
  async settings(@Root() user: User, @Ctx() ctx: Context): Promise<UserSettings | null> {
    return seesPart(ctx.caller, user, 'read:preferences') ? settingsOf(ctx, user.id) : null;
  }

  @FieldResolver(() => ID, { nullable: true, description: 'Brand of the first sign-up.' })
  brandId(@Root() user: User, @Ctx() ctx: Context): string | null {
    return knowsBrand(ctx.caller, user.id) ? user.brandId : null;
  }

  @FieldResolver(() => Brand, { nullable: true })
  brand(@Root() user: User, @Ctx() ctx: Context): Brand | null {
    return knowsBrand(ctx.caller, user.id) && user.brandId !== null ? { id: user.brandId } : null;
  }

  @FieldResolver(() => DateTime, { nullable: true })
  lastSignInAt(@Root() user: User, @Ctx() ctx: Context): Date | null {
    return knowsContact(user, ctx) ? user.lastSignInAt : null;
  }

  @Access(ACCOUNT)
  @FieldResolver(() => DateTime, { nullable: true })
  createdAt(@Root() user: User, @Ctx() ctx: Context): Date | null {
    return knows(user, ctx) ? user.createdAt : null;
  }

  @Access(ACCOUNT)
  @FieldResolver(() => DateTime, { nullable: true })
  updatedAt(@Root() user: User, @Ctx() ctx: Context): Date | null {
    return knows(user, ctx) ? user.updatedAt : null;
  }

  @FieldResolver(() => DateTime, { nullable: true })
  erasedAt(@Root() user: User, @Ctx() ctx: Context): Date | null {
    return knows(user, ctx) ? user.erasedAt : null;
  }

  @Access(ACCOUNT)
  @FieldResolver(() => Int, { nullable: true })
  version(@Root() user: User, @Ctx() ctx: Context): number | null {
    return knows(user, ctx) ? user.version : null;
  }
}
