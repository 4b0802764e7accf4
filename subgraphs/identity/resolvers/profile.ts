import { Arg, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { Url } from '../../../runtime/schema/scalars.js';
import { setAvatar, storedAvatar } from '../commands/avatar.js';
import { reservedNames, updateProfile, updateSettings } from '../commands/profile.js';
import { UserSettings } from '../entities/settings.js';
import { AvatarVersion, HandleAvailability, User, UserProfile } from '../entities/user.js';
import { SetMyAvatarInput, UpdateMyProfileInput, UpdateMySettingsInput } from '../inputs/profile.js';
import { availabilityOf } from '../queries/handle.js';
import { AVATAR_SIZES, avatarUrl } from '../rules/avatar.js';

@Resolver(() => UserProfile)
export class ProfileResolver {
  @Access({ user: 'read:profile', firstParty: true })
  @Prepare(reservedNames)
  @Mutation(() => User, { description: 'Changes what others see of the caller.' })
  updateMyProfile(@Arg('input', () => UpdateMyProfileInput) input: UpdateMyProfileInput, @Ctx() ctx: Context): Promise<User> {
    return updateProfile(ctx, input);
  }

  @Access({ user: 'manage:preferences' })
  @Mutation(() => UserSettings, { description: "Changes the caller's settings." })
  updateMySettings(@Arg('input', () => UpdateMySettingsInput) input: UpdateMySettingsInput, @Ctx() ctx: Context): Promise<UserSettings> {
    return updateSettings(ctx, input);
  }

  @Access({ user: 'read:profile', firstParty: true })
  @Prepare(storedAvatar)
  @Mutation(() => User, { description: "Changes the caller's picture." })
  setMyAvatar(@Arg('input', () => SetMyAvatarInput) _input: SetMyAvatarInput, @Ctx() ctx: Context): Promise<User> {
    return setAvatar(ctx);
  }

  @Access({ service: '*', user: '*' })
  @Query(() => HandleAvailability, { description: 'Whether the caller could have this handle, in any case of letters.' })
  handleAvailability(
    @Rule({ maxLength: 64 }) @Arg('handle', () => String) handle: string,
    @Ctx() ctx: Context,
  ): Promise<HandleAvailability> {
    return availabilityOf(ctx, handle);
  }

  @FieldResolver(() => Url, { nullable: true, description: 'The avatar, 256 pixels square, WebP.' })
  avatarUrl(@Root() { avatarKey }: UserProfile, @Ctx() ctx: Context): string | null {
    return avatarKey && avatarUrl(ctx.host.config.issuer, avatarKey);
  }

  @FieldResolver(() => [AvatarVersion], { description: 'The avatar in all its sizes; empty without one.' })
  avatarVersions(@Root() { avatarKey }: UserProfile, @Ctx() ctx: Context): AvatarVersion[] {
    return avatarKey === null ? [] : AVATAR_SIZES.map(size => ({ size, url: avatarUrl(ctx.host.config.issuer, avatarKey, size) }));
  }
}
