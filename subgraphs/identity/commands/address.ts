import type { RequiredEntityData } from '@mikro-orm/postgresql';
import type { AuditDetails } from '../../../runtime/data/audit.js';
import { lockRow, requireRow, requireVersion } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import type { PostalAddress } from '../../../runtime/schema/scalars.js';
import { UserAddress, UserAddressDefault } from '../entities/address.js';
import { CrmSyncReason } from '../entities/crm-sync.js';
import { User, UserStatus } from '../entities/user.js';
import type { AddUserAddressInput, SetDefaultUserAddressInput, UpdateUserAddressInput } from '../inputs/address.js';
import { addressBook, bookOwner } from '../queries/address.js';
import { addressViolations, clearedViolations, MAX_ADDRESSES } from '../rules/addresses.js';
import { given } from '../rules/changes.js';
import { noteCrmChange } from './crm-change.js';

type Defaults = { isDefaultShipping?: boolean | null; isDefaultBilling?: boolean | null };

/** Locks the owner's row, so that changes of one address book follow one another. */
async function lockOwner(ctx: Context, userId: string): Promise<void> {
  await lockRow(ctx, User, { id: userId, status: { $ne: UserStatus.ERASED } });
}

/** The index allows one default of a kind, so the old one goes first; `keep` is the address that becomes it. */
async function endDefaults(
  ctx: Context,
  userId: string,
  { isDefaultShipping, isDefaultBilling }: Defaults,
  keep?: UserAddress,
): Promise<void> {
  for (const other of (await addressBook(ctx, userId)).filter(one => one !== keep)) {
    if (isDefaultShipping) other.isDefaultShipping = false;
    if (isDefaultBilling) other.isDefaultBilling = false;
  }
  await ctx.em.flush();
}

/** Gives or takes the flags of an address that is there. */
async function setDefaults(ctx: Context, address: UserAddress, flags: Defaults): Promise<void> {
  await endDefaults(ctx, address.userId, flags, address);
  if (flags.isDefaultShipping != null) address.isDefaultShipping = flags.isDefaultShipping;
  if (flags.isDefaultBilling != null) address.isDefaultBilling = flags.isDefaultBilling;
}

/** What every change of a book leaves behind. */
async function noteChange(ctx: Context, verb: string, { id, userId }: UserAddress, details: AuditDetails = {}): Promise<void> {
  await noteCrmChange(ctx, userId, CrmSyncReason.CONTACT);
  ctx.audit(`user_address.${verb}`, id, { user_id: userId, ...details });
}

/** The first address of a book becomes both defaults. @throws Problem conflict (`too_many_addresses`). */
async function flagsOfNew(ctx: Context, userId: string, { isDefaultShipping, isDefaultBilling }: Defaults) {
  const count = await ctx.em.count(UserAddress, { userId });
  if (count >= MAX_ADDRESSES) fail('conflict', `The address book is full: ${MAX_ADDRESSES} addresses`, { reason: 'too_many_addresses' });
  return {
    isDefaultShipping: count === 0 || (isDefaultShipping ?? false),
    isDefaultBilling: count === 0 || (isDefaultBilling ?? false),
  };
}

/** Adds an address. @throws Problem invalid_request, not_found, conflict (`too_many_addresses`). */
export async function addAddress(ctx: Context, input: AddUserAddressInput): Promise<UserAddress> {
  const { userId: named, address, isDefaultShipping, isDefaultBilling, ...rest } = input;
  const userId = bookOwner(ctx, named, '/input/userId');
  requireValid(addressViolations({ postalCode: address.postalCode ?? null, countryCode: address.countryCode }));
  await lockOwner(ctx, userId);
  const flags = await flagsOfNew(ctx, userId, { isDefaultShipping, isDefaultBilling });
  await endDefaults(ctx, userId, flags);
  const now = ctx.now();
  const values = { ...given(rest), ...given(address), ...flags, userId, createdAt: now, updatedAt: now };
  const entry = ctx.em.create(UserAddress, values as RequiredEntityData<UserAddress>, { partial: true });
  await noteChange(ctx, 'added', entry);
  return entry;
}

/** Changes an address. @throws Problem invalid_request, not_found, conflict (`version_conflict`). */
export async function updateAddress(ctx: Context, input: UpdateUserAddressInput): Promise<UserAddress> {
  const { id, userId: named, version, address, isDefaultShipping, isDefaultBilling, ...rest } = input;
  const userId = bookOwner(ctx, named, '/input/userId');
  requireValid(clearedViolations(input));
  await lockOwner(ctx, userId);
  const entry = await requireRow(ctx, UserAddress, { id, userId });
  const changed = { ...entry.address, ...given(address ?? {}) } as PostalAddress;
  requireValid(addressViolations(changed));
  requireVersion(entry, version);
  await setDefaults(ctx, entry, { isDefaultShipping, isDefaultBilling });
  Object.assign(entry, given(rest), changed, { updatedAt: ctx.now() });
  await noteChange(ctx, 'changed', entry, { fields: Object.keys(given({ ...rest, address, isDefaultShipping, isDefaultBilling })) });
  return entry;
}

/** Removes an address; the newest other one inherits its default flags. @throws Problem invalid_request, not_found. */
export async function deleteAddress(ctx: Context, id: string, named: string | null | undefined): Promise<UserAddress> {
  const userId = bookOwner(ctx, named, '/userId');
  await lockOwner(ctx, userId);
  const entry = await requireRow(ctx, UserAddress, { id, userId });
  await ctx.sql('delete from identity.user_address where id = $1', [entry.id]);
  ctx.em.clear(); // it must not be written again
  const heir = (await addressBook(ctx, userId))[0];
  if (heir && entry.isDefaultShipping) heir.isDefaultShipping = true;
  if (heir && entry.isDefaultBilling) heir.isDefaultBilling = true;
  await noteChange(ctx, 'removed', entry);
  return entry;
}

/** Makes an address the default for shipping, billing or both. @throws Problem invalid_request, not_found. */
export async function setDefaultAddress(ctx: Context, { id, userId: named, kind }: SetDefaultUserAddressInput): Promise<UserAddress> {
  const userId = bookOwner(ctx, named, '/input/userId');
  await lockOwner(ctx, userId);
  const entry = await requireRow(ctx, UserAddress, { id, userId });
  const { SHIPPING, BILLING } = UserAddressDefault;
  await setDefaults(ctx, entry, { isDefaultShipping: kind === BILLING ? null : true, isDefaultBilling: kind === SHIPPING ? null : true });
  await noteChange(ctx, 'default_set', entry, { kind });
  return entry;
}
