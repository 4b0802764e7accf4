import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, type Violation, requireValid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import type { PostalAddress } from '../../../runtime/schema/scalars.js';
import { connectionOf, decodeCursor, PageArgs, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { UserAddress } from '../entities/address.js';
import { CrmSyncReason } from '../entities/crm-sync.js';
import { User, UserStatus } from '../entities/user.js';
import { AddUserAddressInput, SetDefaultUserAddressInput, UpdateUserAddressInput, UserAddressDefault } from '../inputs/address.js';
import { addressViolations, MAX_ADDRESSES } from '../rules/addresses.js';
import { noteCrmChange } from '../commands/crm-change.js';
import { isAdmin } from '../queries/viewer.js';
import { requireVersion } from '../../../runtime/data/rows.js';

const UserAddressConnection = connectionOf(UserAddress, 'UserAddress');

const READ = { service: 'admin:identity|admin:commerce', user: 'read:account', self: true } as const;
const WRITE = { ...READ, firstParty: true } as const;

type Defaults = { isDefaultShipping?: boolean | null; isDefaultBilling?: boolean | null };

/** The address book's owner: `sub` of a user token, staff's too; a service names one. @throws Problem invalid_request, not_found. */
function ownerOf({ caller }: Context, userId: string | null | undefined, pointer: string): string {
  const named = userId == null ? null : isUuid(userId) ? userId : fail('not_found', 'Not found');
  if (caller.kind !== 'user')
    return named ?? fail('invalid_request', 'The user is missing', { errors: [{ pointer, message: 'is required for a service token' }] });
  return named === null || named === caller.userId ? caller.userId! : fail('not_found', 'Not found');
}

/** Locks the owner's row, so that changes of one address book follow one another. */
async function lockOwner(ctx: Context, userId: string): Promise<void> {
  const user = await ctx.em.findOne(User, { id: userId, status: { $ne: UserStatus.ERASED } }, { lockMode: LockMode.PESSIMISTIC_WRITE }); // PESSIMISTIC_WRITE
  if (!user) fail('not_found', 'Not found');
}

const bookOf = (ctx: Context, userId: string): Promise<UserAddress[]> =>
  ctx.em.find(UserAddress, { userId }, { orderBy: { createdAt: 'desc', id: 'desc' } });

async function addressOf(ctx: Context, userId: string, id: string): Promise<UserAddress> {
  return (isUuid(id) ? await ctx.em.findOne(UserAddress, { id, userId }) : null) ?? fail('not_found', 'Not found');
}

/** The index allows one default of a kind, so the old one goes first; `keep` is the address that becomes it. */
async function endDefaults(
  ctx: Context,
  userId: string,
  { isDefaultShipping, isDefaultBilling }: Defaults,
  keep?: UserAddress,
): Promise<void> {
  for (const other of (await bookOf(ctx, userId)).filter(one => one !== keep)) {
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

function refuse(errors: readonly Violation[]): void {
  requireValid(errors);
}

/** What has to stay cannot be cleared. */
const cleared = (input: UpdateUserAddressInput): Violation[] =>
  [
    ['/input/recipient', input.recipient],
    ['/input/address', input.address],
    ...(['line1', 'city', 'countryCode'] as const).map(name => [`/input/address/${name}`, input.address?.[name]] as const),
  ].flatMap(([pointer, value]) => (value === null ? [{ pointer: pointer as string, message: 'cannot be cleared' }] : []));

const given = <Values extends object>(values: Values): Partial<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<Values>;

function keysetOf(after: string): { at: string; id: string } {
  const [at, id] = decodeCursor(after, 2);
  return { at: String(at), id: String(id) };
}

/** A page of what was loaded; a book has twenty entries at most, so that it is read whole. */
function pageOf(book: readonly UserAddress[], { first, after }: PageArgs): Connection<UserAddress> {
  const key = after ? keysetOf(after) : null;
  const isBeyond = (one: UserAddress): boolean =>
    key === null || one.createdAt.toISOString() < key.at || (one.createdAt.toISOString() === key.at && one.id < key.id);
  return toConnection(book.filter(isBeyond).slice(0, first + 1), first, one => [one.createdAt.toISOString(), one.id]);
}

async function booksOf(ctx: Context, userIds: readonly string[]): Promise<UserAddress[][]> {
  const rows = await ctx.em.find(UserAddress, { userId: { $in: userIds.filter(isUuid) } }, { orderBy: { createdAt: 'desc', id: 'desc' } });
  return userIds.map(userId => rows.filter(row => row.userId === userId));
}

/** Entries of other people are as absent as those that never were. */
export async function loadAddresses(ctx: Context, references: readonly { id: string }[]): Promise<(UserAddress | null)[]> {
  const { caller } = ctx;
  const all = isAdmin(caller) || (caller.kind === 'service' && caller.scopes.has('admin:commerce'));
  const ids = references.map(one => String(one.id));
  const rows = await ctx.em.find(UserAddress, { id: { $in: ids.filter(isUuid) }, ...(all ? {} : { userId: caller.userId ?? [] }) });
  return ids.map(id => rows.find(row => row.id === id) ?? null);
}

@Resolver(() => User)
export class AddressResolver {
  @Access({ service: 'admin:identity', user: 'read:account', staff: 'admin:identity:read' })
  @FieldResolver(() => UserAddressConnection, { nullable: true, description: 'The address book, newest first.' })
  async addresses(@Root() user: User, @Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<UserAddress> | null> {
    if (!isAdmin(ctx.caller) && ctx.caller.userId !== user.id) return null;
    const book = await ctx.load('identity.addresses', user.id, ids => booksOf(ctx, ids));
    return pageOf(book ?? [], args);
  }

  @Access(READ)
  @Query(() => UserAddressConnection, { description: 'The address book of a user, newest first.' })
  async userAddresses(
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
    @Arg('userId', () => ID, { nullable: true }) userId?: string | null,
  ): Promise<Connection<UserAddress>> {
    return pageOf(await bookOf(ctx, ownerOf(ctx, userId, '/userId')), args);
  }

  @Access(WRITE)
  @Mutation(() => UserAddress, { description: 'Adds an address; a user has twenty at most.' })
  async addUserAddress(@Arg('input', () => AddUserAddressInput) input: AddUserAddressInput, @Ctx() ctx: Context): Promise<UserAddress> {
    const { userId, address, isDefaultShipping, isDefaultBilling, ...rest } = input;
    const owner = ownerOf(ctx, userId, '/input/userId');
    refuse(addressViolations({ postalCode: address.postalCode ?? null, countryCode: address.countryCode }));
    await lockOwner(ctx, owner);
    const count = await ctx.em.count(UserAddress, { userId: owner });
    if (count >= MAX_ADDRESSES) fail('conflict', `The address book is full: ${MAX_ADDRESSES} addresses`, { reason: 'too_many_addresses' });
    const flags = {
      isDefaultShipping: count === 0 || (isDefaultShipping ?? false),
      isDefaultBilling: count === 0 || (isDefaultBilling ?? false),
    };
    await endDefaults(ctx, owner, flags);
    const now = ctx.now();
    const values = { ...given(rest), ...given(address), ...flags, userId: owner, createdAt: now, updatedAt: now };
    const entry = ctx.em.create(UserAddress, values as never, { partial: true });
    await noteCrmChange(ctx, owner, CrmSyncReason.CONTACT);
    ctx.audit('user_address.added', entry.id, { user_id: owner });
    return entry;
  }

  @Access(WRITE)
  @Mutation(() => UserAddress, { description: 'Changes an address.' })
  async updateUserAddress(
    @Arg('input', () => UpdateUserAddressInput) input: UpdateUserAddressInput,
    @Ctx() ctx: Context,
  ): Promise<UserAddress> {
    const { id, userId, version, address, isDefaultShipping, isDefaultBilling, ...rest } = input;
    const owner = ownerOf(ctx, userId, '/input/userId');
    refuse(cleared(input));
    await lockOwner(ctx, owner);
    const entry = await addressOf(ctx, owner, id);
    const changed = { ...entry.address, ...(given(address ?? {}) as Partial<PostalAddress>) };
    refuse(addressViolations(changed));
    requireVersion(entry, version);
    await setDefaults(ctx, entry, { isDefaultShipping, isDefaultBilling });
    Object.assign(entry, given(rest), changed, { updatedAt: ctx.now() });
    await noteCrmChange(ctx, owner, CrmSyncReason.CONTACT);
    ctx.audit('user_address.changed', entry.id, {
      user_id: owner,
      fields: Object.keys(given({ ...rest, address, isDefaultShipping, isDefaultBilling })),
    });
    return entry;
  }

  @Access(WRITE)
  @Mutation(() => UserAddress, { description: 'Removes an address; the newest other one inherits its default flags.' })
  async deleteUserAddress(
    @Arg('id', () => ID) id: string,
    @Ctx() ctx: Context,
    @Arg('userId', () => ID, { nullable: true }) userId?: string | null,
  ): Promise<UserAddress> {
    const owner = ownerOf(ctx, userId, '/userId');
    await lockOwner(ctx, owner);
    const entry = await addressOf(ctx, owner, id);
    await ctx.sql('delete from identity.user_address where id = $1', [entry.id]);
    ctx.em.clear(); // it must not be written again
    const heir = (await bookOf(ctx, owner))[0];
    if (heir && entry.isDefaultShipping) heir.isDefaultShipping = true;
    if (heir && entry.isDefaultBilling) heir.isDefaultBilling = true;
    await noteCrmChange(ctx, owner, CrmSyncReason.CONTACT);
    ctx.audit('user_address.removed', entry.id, { user_id: owner });
    return entry;
  }

  @Access(WRITE)
  @Mutation(() => UserAddress, { description: 'Makes an address the default for shipping, billing or both.' })
  async setDefaultUserAddress(
    @Arg('input', () => SetDefaultUserAddressInput) { id, userId, kind }: SetDefaultUserAddressInput,
    @Ctx() ctx: Context,
  ): Promise<UserAddress> {
    const owner = ownerOf(ctx, userId, '/input/userId');
    await lockOwner(ctx, owner);
    const entry = await addressOf(ctx, owner, id);
    const { SHIPPING, BILLING } = UserAddressDefault;
    await setDefaults(ctx, entry, { isDefaultShipping: kind === BILLING ? null : true, isDefaultBilling: kind === SHIPPING ? null : true });
    await noteCrmChange(ctx, owner, CrmSyncReason.CONTACT);
    ctx.audit('user_address.default_set', entry.id, { user_id: owner, kind });
    return entry;
  }
}
