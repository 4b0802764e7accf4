import { Arg, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { beginTotp, confirmTotp, deleteMethod, regenerateCodes } from '../commands/totp.js';
import { BackupCodes, BackupCodeStatus, ConfirmedTotp, MfaMethod, TotpEnrolment } from '../entities/mfa.js';
import { User } from '../entities/user.js';
import { ConfirmTotpInput } from '../inputs/credential.js';
import { ONE_LINE } from '../inputs/text.js';
import { hasSecondFactor } from '../queries/batches.js';
import { backupCodesOf, secondFactorsOf } from '../queries/mfa.js';
import { viewerOf } from '../queries/viewer.js';
import { seesContact } from '../rules/visibility.js';

const OWN = { user: 'read:account', firstParty: true } as const;
const FRESH = { ...OWN, stepUp: 600 } as const;

@Resolver(() => User)
export class MfaResolver {
  @FieldResolver(() => Boolean, {
    nullable: true,
    description: 'Whether a second factor is asked for; for the owner with read:account and administrators.',
  })
  async mfaEnabled(@Root() user: User, @Ctx() ctx: Context): Promise<boolean | null> {
    return seesContact(viewerOf(ctx.caller, user)) ? hasSecondFactor(ctx, user.id) : null;
  }

  @Access(OWN)
  @FieldResolver(() => [MfaMethod], { nullable: true, description: 'Second factors, oldest first.' })
  async mfaMethods(@Root() user: User, @Ctx() ctx: Context): Promise<MfaMethod[] | null> {
    return ctx.caller.userId === user.id ? secondFactorsOf(ctx, user.id) : null;
  }

  @Access(OWN)
  @FieldResolver(() => BackupCodeStatus, { nullable: true, description: 'Zeros when there are none.' })
  async backupCodes(@Root() user: User, @Ctx() ctx: Context): Promise<BackupCodeStatus | null> {
    return ctx.caller.userId === user.id ? backupCodesOf(ctx, user.id) : null;
  }

  @Access(FRESH)
  @OwnTransactions('the enrolment that is not confirmed is replaced')
  @Mutation(() => TotpEnrolment, { description: 'Begins with an authenticator app; one that was not confirmed is replaced.' })
  initTotp(
    @Ctx() ctx: Context,
    @Rule({ maxLength: 40, pattern: ONE_LINE }) @Arg('label', () => String, { nullable: true }) label?: string | null,
  ): Promise<TotpEnrolment> {
    return ctx.host.transaction(own => beginTotp(own, label ?? null), ctx.request);
  }

  @Access(OWN)
  @OwnTransactions('the code is spent, so the repeat is refused')
  @Mutation(() => ConfirmedTotp, { description: 'Makes an authenticator app a second factor; five wrong codes end it.' })
  confirmTotp(@Arg('input', () => ConfirmTotpInput) input: ConfirmTotpInput, @Ctx() ctx: Context): Promise<ConfirmedTotp> {
    return confirmTotp(ctx, input);
  }

  @Access(FRESH)
  @Mutation(() => MfaMethod, { description: 'Removes a second factor; with the last one the backup codes go.' })
  deleteMfaMethod(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<MfaMethod> {
    return deleteMethod(ctx, id);
  }

  @Access(FRESH)
  @OwnTransactions('the new codes replace those of the call before')
  @Mutation(() => BackupCodes, { description: 'Ten new backup codes, shown once; the old ones are dead.' })
  regenerateBackupCodes(@Ctx() ctx: Context): Promise<BackupCodes> {
    return ctx.host.transaction(own => regenerateCodes(own), ctx.request);
  }
}
