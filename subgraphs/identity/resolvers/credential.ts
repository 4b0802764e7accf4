import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import { confirmEmailChange, requestEmailChange } from '../commands/email-change.js';
import { changePassword } from '../commands/password.js';
import { confirmPhone, removePhone, requestPhoneVerification } from '../commands/phone.js';
import { EmailChangeRequest, PhoneVerification } from '../entities/challenge.js';
import { User } from '../entities/user.js';
import {
  ChangePasswordInput,
  ConfirmEmailChangeInput,
  ConfirmPhoneInput,
  RequestEmailChangeInput,
  RequestPhoneVerificationInput,
} from '../inputs/credential.js';

const OWN = { user: 'read:account', firstParty: true } as const;
const FRESH = { ...OWN, stepUp: 600 } as const;

/** Password, address and phone number of the own account. */
@Resolver()
export class CredentialResolver {
  @Access(FRESH)
  @OwnTransactions('the same password is set again')
  @Mutation(() => User, { description: 'Gives the own account a new password; other sign-ins end.' })
  changePassword(@Arg('input', () => ChangePasswordInput) { newPassword }: ChangePasswordInput, @Ctx() ctx: Context): Promise<User> {
    return changePassword(ctx, newPassword);
  }

  @Access(FRESH)
  @OwnTransactions('another code is sent, three times an hour at most')
  @Mutation(() => EmailChangeRequest, { description: 'Sends a code to the address that the account is to have.' })
  requestEmailChange(
    @Arg('input', () => RequestEmailChangeInput) { newEmail }: RequestEmailChangeInput,
    @Ctx() ctx: Context,
  ): Promise<EmailChangeRequest> {
    return requestEmailChange(ctx, newEmail);
  }

  @Access(OWN)
  @OwnTransactions('the code is spent, so the repeat is refused')
  @Mutation(() => User, {
    description: 'Makes the new address that of the account; other sign-ins end, and the old address can undo it for 72 h.',
  })
  confirmEmailChange(@Arg('input', () => ConfirmEmailChangeInput) input: ConfirmEmailChangeInput, @Ctx() ctx: Context): Promise<User> {
    return confirmEmailChange(ctx, input);
  }

  @Access(FRESH)
  @OwnTransactions('another code is sent, within the limits of numbers, networks and accounts')
  @Mutation(() => PhoneVerification, {
    description: 'Sends a code to the number that the account is to have, or has; an earlier one is void.',
  })
  requestPhoneVerification(
    @Arg('input', () => RequestPhoneVerificationInput) { phone }: RequestPhoneVerificationInput,
    @Ctx() ctx: Context,
  ): Promise<PhoneVerification> {
    return requestPhoneVerification(ctx, phone);
  }

  @Access(OWN)
  @OwnTransactions('the code is spent, so the repeat is refused')
  @Mutation(() => User, { description: 'Makes the number that of the account, confirmed. One that it replaces is told of by e-mail.' })
  confirmPhone(@Arg('input', () => ConfirmPhoneInput) input: ConfirmPhoneInput, @Ctx() ctx: Context): Promise<User> {
    return confirmPhone(ctx, input);
  }

  @Access(FRESH)
  @Mutation(() => User, { description: 'Takes the phone number off the own account; again: no change.' })
  removePhone(@Ctx() ctx: Context): Promise<User> {
    return removePhone(ctx);
  }
}
