import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { userCreated } from '../../../events/catalogue/identity.js';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { isUuid, newId } from '../../../runtime/data/ids.js';
import { CrmSyncReason } from '../entities/crm-sync.js';
import { UserSettings } from '../entities/settings.js';
import { User, UserEmail, UserProfile } from '../entities/user.js';
import { CreateUserInput } from '../inputs/profile.js';
import { emailKey } from '../rules/visibility.js';
import { noteCrmChange } from '../commands/crm-change.js';

export interface NewAccount {
  email: string;
  emailVerified: boolean;
  phone?: string | null;
  displayName?: string | null;
  brandId?: string | null;
  locale?: string | null;
  timeZone?: string | null;
  countryCode?: string | null;
}

/** Makes an account that is active at once. Needs a transaction. @throws Problem conflict (`email_taken`). */
export async function openAccount(ctx: Context, account: NewAccount, source: 'import' | 'staff_invite' | 'sso'): Promise<User> {
  const { email, emailVerified, phone = null, displayName = null, brandId = null, locale, timeZone, countryCode = null } = account;
  if ((await ctx.em.count(UserEmail, { emailKey: emailKey(email) })) > 0)
    fail('conflict', 'There is an account with this e-mail address', { reason: 'email_taken' });
  const id = newId();
  const now = ctx.now();
  const plant = <Row extends object>(entity: new () => Row, row: object): Row => {
    const planted = ctx.em.create(entity, row as never, { partial: true }) as Row;
    ctx.em.persist(planted);
    return planted;
  };
  const user = plant(User, { id, phone, brandId, createdAt: now, updatedAt: now });
  plant(UserEmail, { userId: id, email, emailKey: emailKey(email), verifiedAt: emailVerified ? now : null });
  plant(UserProfile, { userId: id, displayName, joinedOn: `${now.toISOString().slice(0, 7)}-01` });
  plant(UserSettings, { userId: id, ...(locale && { locale }), ...(timeZone && { timeZone }) });
  await ctx.em.flush();
  await noteCrmChange(ctx, id, CrmSyncReason.CREATED);
  ctx.emit(userCreated, { source, locale: locale ?? null, country_code: countryCode }, { userId: id, brandId });
  ctx.audit('user.created', id, { source });
  return user;
}

@Resolver()
export class CreateUserResolver {
  @Access({ service: 'admin:identity' })
  @Mutation(() => User, { description: 'Makes an account that is active at once.' })
  async createUser(@Arg('input', () => CreateUserInput) input: CreateUserInput, @Ctx() ctx: Context): Promise<User> {
    if (input.brandId != null && !isUuid(input.brandId)) invalid('/input/brandId', 'is no id of a brand');
    return openAccount(ctx, input, 'import');
  }
}
