import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { type Connection, PageArgs } from '../../../runtime/request/paging.js';
import { addAddress, deleteAddress, setDefaultAddress, updateAddress } from '../commands/address.js';
import { UserAddress, UserAddressConnection } from '../entities/address.js';
import { User } from '../entities/user.js';
import { AddUserAddressInput, SetDefaultUserAddressInput, UpdateUserAddressInput } from '../inputs/address.js';
import { addressesOf, addressPage } from '../queries/address.js';

const READ = { service: 'admin:identity|admin:commerce', user: 'read:account', self: true } as const;
const WRITE = { ...READ, firstParty: true } as const;

@Resolver(() => User)
export class AddressResolver {
  @Access({ service: 'admin:identity', user: 'read:account', staff: 'admin:identity:read' })
  @FieldResolver(() => UserAddressConnection, { nullable: true, description: 'The address book, newest first.' })
  addresses(@Root() user: User, @Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<UserAddress> | null> {
    return addressesOf(ctx, user, args);
  }

  @Access(READ)
  @Query(() => UserAddressConnection, { description: 'The address book of a user, newest first.' })
  userAddresses(
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
    @Arg('userId', () => ID, { nullable: true }) userId?: string | null,
  ): Promise<Connection<UserAddress>> {
    return addressPage(ctx, userId, args);
  }

  @Access(WRITE)
  @Mutation(() => UserAddress, { description: 'Adds an address; a user has twenty at most.' })
  addUserAddress(@Arg('input', () => AddUserAddressInput) input: AddUserAddressInput, @Ctx() ctx: Context): Promise<UserAddress> {
    return addAddress(ctx, input);
  }

  @Access(WRITE)
  @Mutation(() => UserAddress, { description: 'Changes an address.' })
  updateUserAddress(@Arg('input', () => UpdateUserAddressInput) input: UpdateUserAddressInput, @Ctx() ctx: Context): Promise<UserAddress> {
    return updateAddress(ctx, input);
  }

  @Access(WRITE)
  @Mutation(() => UserAddress, { description: 'Removes an address; the newest other one inherits its default flags.' })
  deleteUserAddress(
    @Arg('id', () => ID) id: string,
    @Ctx() ctx: Context,
    @Arg('userId', () => ID, { nullable: true }) userId?: string | null,
  ): Promise<UserAddress> {
    return deleteAddress(ctx, id, userId);
  }

  @Access(WRITE)
  @Mutation(() => UserAddress, { description: 'Makes an address the default for shipping, billing or both.' })
  setDefaultUserAddress(
    @Arg('input', () => SetDefaultUserAddressInput) input: SetDefaultUserAddressInput,
    @Ctx() ctx: Context,
  ): Promise<UserAddress> {
    return setDefaultAddress(ctx, input);
  }
}
