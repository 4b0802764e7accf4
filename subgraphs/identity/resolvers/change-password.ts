import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import { User, UserStatus } from '../entities/user.js';
import { ChangePasswordInput } from '../inputs/credential.js';
import { PageError } from '../native/pages/form.js';
import { hashPassword, passwordFault } from '../native/pages/new-password.js';
import { emailOf } from '../queries/batches.js';
import { setPassword } from '../commands/credential.js';
import { sendNotice } from '../commands/notice.js';
import { endOtherSessions } from './session.js';

/** @throws Problem unavailable when too many passwords are hashed at once. */
const hashed = (password: string): Promise<string> =>
  hashPassword(password).catch(error => {
    if (!(error instanceof PageError)) throw error;
    fail('unavailable', error.message, { retryAfter: error.retryAfter });
  });

async function store(ctx: Context, hash: string): Promise<User> {
  const user = (await ctx.em.findOne(User, { id: ctx.caller.userId!, status: UserStatus.ACTIVE })) ?? fail('not_found', 'Not found');
  await setPassword(ctx, user.id, hash);
  ctx.audit('password.changed', user.id);
  sendNotice(ctx, user.id, 'password_changed');
  await endOtherSessions(ctx);
  return user;
}

@Resolver()
export class PasswordResolver {
  @Access({ user: 'read:account', firstParty: true, stepUp: 600 })
  @OwnTransactions('the same password is set again')
  @Mutation(() => User, { description: 'Gives the own account a new password; other sign-ins end.' })
  async changePassword(@Arg('input', () => ChangePasswordInput) { newPassword }: ChangePasswordInput, @Ctx() ctx: Context): Promise<User> {
    const email = await emailOf(ctx, ctx.caller.userId!);
    const fault = await passwordFault(ctx.host, newPassword, email ? [email.email, ...email.email.split('@')] : []);
    if (fault) invalid('/input/newPassword', fault);
    const hash = await hashed(newPassword);
    return ctx.host.transaction(own => store(own, hash), ctx.request);
  }
}
