import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { CrmSyncReason } from '../entities/crm-sync.js';
import { UserSettings } from '../entities/settings.js';
import { ProfileVisibility, User, UserProfile, UserStatus } from '../entities/user.js';
import { UpdateMyProfileInput, UpdateMySettingsInput } from '../inputs/profile.js';
import { noteCrmChange } from '../commands/crm-change.js';
import { brandNames, changeHandle } from './handle.js';
import { requireVersion } from '../../../runtime/data/rows.js';

const given = <Values extends object>(values: Values): Partial<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<Values>;

/** An https address as text, null to clear. @throws Problem invalid_request. */
function websiteOf(value: URL | string | null | undefined): string | null | undefined {
  if (value == null) return value;
  const url = new URL(value);
  if (url.protocol !== 'https:' || url.username || url.href.length > 300)
    invalid('/input/websiteUrl', 'must be an https URL of at most 300 characters');
  return url.href;
}

/** The caller's account, locked, so that its changes follow one another; its version moves on. */
export async function ownAccount(ctx: Context): Promise<User> {
  const user = await ctx.em.findOne(User, { id: ctx.caller.userId!, status: UserStatus.ACTIVE }, { lockMode: LockMode.PESSIMISTIC_WRITE }); // PESSIMISTIC_WRITE
  if (!user) fail('not_found', 'Not found');
  user.updatedAt = ctx.now();
  return user;
}

function setMarketing(ctx: Context, settings: UserSettings, wanted: UpdateMySettingsInput['marketingConsent']): void {
  if (wanted === undefined) return;
  settings.marketingGranted = wanted?.granted ?? false;
  settings.marketingConsentAt = wanted === null ? null : ctx.now();
  settings.marketingConsentSource = wanted?.source ?? null;
}

/** Null is the default again. */
function withDefaults(values: object): object {
  const fresh = new UserSettings() as unknown as Record<string, unknown>;
  return Object.fromEntries(Object.entries(given(values)).map(([name, value]) => [name, value ?? fresh[name]]));
}

@Resolver()
export class ProfileResolver {
  @Access({ user: 'read:profile', firstParty: true })
  @Prepare((ctx: Context, { input }: { input: UpdateMyProfileInput }) => (input.handle == null ? Promise.resolve([]) : brandNames(ctx)))
  @Mutation(() => User, { description: 'Changes what others see of the caller.' })
  async updateMyProfile(@Arg('input', () => UpdateMyProfileInput) input: UpdateMyProfileInput, @Ctx() ctx: Context): Promise<User> {
    const { handle, websiteUrl, visibility, ...texts } = input;
    const website = websiteOf(websiteUrl);
    const user = await ownAccount(ctx);
    const profile = (await ctx.em.findOne(UserProfile, { userId: user.id })) ?? fail('not_found', 'Not found');
    if (handle !== undefined) await changeHandle(ctx, profile, handle, ctx.facts as string[]);
    Object.assign(profile, given({ ...texts, websiteUrl: website }));
    if (visibility !== undefined) profile.visibility = visibility ?? ProfileVisibility.MEMBERS;
    if (texts.displayName !== undefined) await noteCrmChange(ctx, user.id, CrmSyncReason.PROFILE);
    ctx.audit('user_profile.changed', user.id, { fields: Object.keys(given(input)) });
    return user;
  }

  @Access({ user: 'manage:preferences' })
  @Mutation(() => UserSettings, { description: "Changes the caller's settings." })
  async updateMySettings(
    @Arg('input', () => UpdateMySettingsInput) input: UpdateMySettingsInput,
    @Ctx() ctx: Context,
  ): Promise<UserSettings> {
    const { version, marketingConsent, ...rest } = input;
    const user = await ownAccount(ctx);
    const settings = (await ctx.em.findOne(UserSettings, { userId: user.id })) ?? fail('not_found', 'Not found');
    requireVersion(settings, version);
    Object.assign(settings, withDefaults(rest));
    setMarketing(ctx, settings, marketingConsent);
    if (rest.locale !== undefined || rest.timeZone !== undefined) await noteCrmChange(ctx, user.id, CrmSyncReason.CONTACT);
    if (marketingConsent !== undefined) await noteCrmChange(ctx, user.id, CrmSyncReason.CONSENT);
    ctx.audit('user_settings.changed', user.id, { fields: Object.keys(given(input)) });
    return settings;
  }
}
