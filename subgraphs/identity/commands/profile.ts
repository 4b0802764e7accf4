import { requireRow, requireVersion } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { CrmSyncReason } from '../entities/crm-sync.js';
import { UserSettings } from '../entities/settings.js';
import { ProfileVisibility, type User, UserProfile } from '../entities/user.js';
import type { UpdateMyProfileInput, UpdateMySettingsInput } from '../inputs/profile.js';
import { brandNames } from '../queries/handle.js';
import { given } from '../rules/changes.js';
import { ownAccount } from './account.js';
import { noteCrmChange } from './crm-change.js';
import { changeHandle } from './handle.js';

/** An https address as text, null to clear. @throws Problem invalid_request. */
function websiteOf(value: URL | string | null | undefined): string | null | undefined {
  if (value == null) return value;
  const url = new URL(value);
  if (url.protocol !== 'https:' || url.username || url.href.length > 300)
    invalid('/input/websiteUrl', 'must be an https URL of at most 300 characters');
  return url.href;
}

/** Names of brands, where a handle is wanted that might look like one. */
export const reservedNames = preparation((ctx: Context, { input }: { input: UpdateMyProfileInput }) =>
  input.handle == null ? Promise.resolve([]) : brandNames(ctx),
);

/** Changes what others see of the caller. @throws Problem invalid_request, conflict; see `changeHandle`. */
export async function updateProfile(ctx: Context, input: UpdateMyProfileInput): Promise<User> {
  const { handle, websiteUrl, visibility, ...texts } = input;
  const website = websiteOf(websiteUrl);
  const user = await ownAccount(ctx);
  const profile = await requireRow(ctx, UserProfile, { userId: user.id });
  if (handle !== undefined) await changeHandle(ctx, profile, handle, reservedNames.of(ctx));
  Object.assign(profile, given({ ...texts, websiteUrl: website }));
  if (visibility !== undefined) profile.visibility = visibility ?? ProfileVisibility.MEMBERS;
  if (texts.displayName !== undefined) await noteCrmChange(ctx, user.id, CrmSyncReason.PROFILE);
  ctx.audit('user_profile.changed', user.id, { fields: Object.keys(given(input)) });
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

/** Changes the caller's settings. @throws Problem conflict (`version_conflict`). */
export async function updateSettings(ctx: Context, input: UpdateMySettingsInput): Promise<UserSettings> {
  const { version, marketingConsent, ...rest } = input;
  const user = await ownAccount(ctx);
  const settings = await requireRow(ctx, UserSettings, { userId: user.id });
  requireVersion(settings, version);
  Object.assign(settings, withDefaults(rest));
  if (rest.timeZone !== undefined) settings.timeZoneSetAt = rest.timeZone === null ? null : ctx.now();
  setMarketing(ctx, settings, marketingConsent);
  if (rest.locale !== undefined || rest.timeZone !== undefined) await noteCrmChange(ctx, user.id, CrmSyncReason.CONTACT);
  if (marketingConsent !== undefined) await noteCrmChange(ctx, user.id, CrmSyncReason.CONSENT);
  ctx.audit('user_settings.changed', user.id, { fields: Object.keys(given(input)) });
  return settings;
}
