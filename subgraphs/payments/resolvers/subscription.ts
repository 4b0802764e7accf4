import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow, loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import type { Problem } from '../../../runtime/request/errors.js';
import { OwnTransactions, Prepare } from '../../../runtime/request/operation.js';
import { TwoPhase } from '../../../runtime/request/two-phase.js';
import { previewChange } from '../commands/change-preview.js';
import { cancelMine, cancelSubscription } from '../commands/subscription-cancel.js';
import { opened, opening, subscriptionFacts } from '../commands/subscription-create.js';
import { pauseMine, pauseSubscription, resumed, resumeTerms, resuming } from '../commands/subscription-rest.js';
import { changed, changeTerms, changingCadence, updating } from '../commands/subscription-update.js';
import { BUYERS, SUBSCRIPTION_READERS, VIEWERS } from '../entities/access.js';
import { InvoicePreview } from '../entities/billing-views.js';
import { SubscriptionChangePreview } from '../entities/change-preview.js';
import { BillingCustomer } from '../entities/customer.js';
import { Invoice } from '../entities/invoice.js';
import { PaymentNextAction } from '../entities/money.js';
import { PaymentMethod } from '../entities/payment-method.js';
import { BillingPrice } from '../entities/price.js';
import { Promo } from '../entities/promo.js';
import { BillingSubscription, BillingSubscriptionChange } from '../entities/subscription.js';
import {
  CancelBillingSubscriptionInput,
  CancelMyBillingSubscriptionInput,
  ChangeBillingCadenceInput,
  CreateBillingSubscriptionInput,
  PauseBillingSubscriptionInput,
  PauseMyBillingSubscriptionInput,
  PreviewSubscriptionChangeInput,
  ResumeBillingSubscriptionInput,
  UpdateBillingSubscriptionInput,
} from '../inputs/subscription.js';
import { pendingChangeOf, waitingPayment } from '../queries/billing.js';
import { ownRows } from '../queries/own-rows.js';
import { upcomingOf } from '../commands/upcoming.js';

@Resolver(() => BillingSubscription)
export class SubscriptionResolver {
  @Access(SUBSCRIPTION_READERS)
  @Query(() => BillingSubscription, { nullable: true })
  billingSubscription(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<BillingSubscription | null> {
    return findRow(ctx, BillingSubscription, { id, ...ownRows(ctx, SUBSCRIPTION_READERS) });
  }

  @Access(BUYERS)
  @Prepare(subscriptionFacts)
  @TwoPhase(opening)
  @Mutation(() => BillingSubscription, { description: 'Opens a subscription and charges its first invoice.' })
  createBillingSubscription(
    @Arg('input', () => CreateBillingSubscriptionInput) input: CreateBillingSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<BillingSubscription | Problem> {
    return opened(ctx, input);
  }

  @Access(BUYERS)
  @Prepare(changeTerms)
  @TwoPhase(updating)
  @Mutation(() => BillingSubscription, {
    description: 'Changes plan, quantity, method or end. What costs more is charged first. Honours If-Match.',
  })
  updateBillingSubscription(
    @Arg('input', () => UpdateBillingSubscriptionInput) _input: UpdateBillingSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<BillingSubscription | Problem> {
    return changed(ctx, updating);
  }

  @Access(BUYERS)
  @Prepare(changeTerms)
  @TwoPhase(changingCadence)
  @Mutation(() => BillingSubscription, { description: 'Bills the same plan at another cadence.' })
  changeBillingCadence(
    @Arg('input', () => ChangeBillingCadenceInput) _input: ChangeBillingCadenceInput,
    @Ctx() ctx: Context,
  ): Promise<BillingSubscription | Problem> {
    return changed(ctx, changingCadence);
  }

  @Access(BUYERS)
  @Mutation(() => BillingSubscription, { description: 'Ends a subscription, with the period or now; nothing is refunded.' })
  cancelBillingSubscription(
    @Arg('input', () => CancelBillingSubscriptionInput) input: CancelBillingSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<BillingSubscription> {
    return cancelSubscription(ctx, input);
  }

  @Access(BUYERS)
  @OwnTransactions('a preview writes nothing')
  @Mutation(() => SubscriptionChangePreview, { description: 'What a change would do; nothing is written.' })
  previewSubscriptionChange(
    @Arg('input', () => PreviewSubscriptionChangeInput) input: PreviewSubscriptionChangeInput,
    @Ctx() ctx: Context,
  ): Promise<SubscriptionChangePreview> {
    return previewChange(ctx, input);
  }

  @Access({ user: 'manage:subscriptions' })
  @Mutation(() => BillingSubscription, { description: "Ends the caller's membership." })
  cancelMyBillingSubscription(
    @Arg('input', () => CancelMyBillingSubscriptionInput) input: CancelMyBillingSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<BillingSubscription> {
    return cancelMine(ctx, input);
  }

  @Access(BUYERS)
  @Mutation(() => BillingSubscription, { description: 'Pauses; the paid time that is not used is kept to the second.' })
  pauseBillingSubscription(
    @Arg('input', () => PauseBillingSubscriptionInput) input: PauseBillingSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<BillingSubscription> {
    return pauseSubscription(ctx, input);
  }

  @Access({ user: 'manage:subscriptions' })
  @Mutation(() => BillingSubscription, { description: "Pauses the caller's membership." })
  pauseMyBillingSubscription(
    @Arg('input', () => PauseMyBillingSubscriptionInput) input: PauseMyBillingSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<BillingSubscription> {
    return pauseMine(ctx, input);
  }

  @Access(BUYERS)
  @Prepare(resumeTerms)
  @TwoPhase(resuming)
  @Mutation(() => BillingSubscription, {
    description: 'Goes on with the paid time that is left; without any the next period is charged first.',
  })
  resumeBillingSubscription(
    @Arg('input', () => ResumeBillingSubscriptionInput) _input: ResumeBillingSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<BillingSubscription | Problem> {
    return resumed(ctx);
  }

  @Access(VIEWERS)
  @FieldResolver(() => BillingCustomer)
  async customer(@Root() { customerId }: BillingSubscription, @Ctx() ctx: Context): Promise<BillingCustomer> {
    return (await loadRow(ctx, BillingCustomer, 'id', customerId))!;
  }

  @Access(VIEWERS)
  @FieldResolver(() => BillingPrice)
  async price(@Root() { priceId }: BillingSubscription, @Ctx() ctx: Context): Promise<BillingPrice> {
    return (await loadRow(ctx, BillingPrice, 'id', priceId))!;
  }

  @Access(VIEWERS)
  @FieldResolver(() => PaymentMethod, { nullable: true })
  async paymentMethod(@Root() { paymentMethodId }: BillingSubscription, @Ctx() ctx: Context): Promise<PaymentMethod | null> {
    return paymentMethodId === null ? null : loadRow(ctx, PaymentMethod, 'id', paymentMethodId);
  }

  @Access(VIEWERS)
  @FieldResolver(() => Invoice, { nullable: true })
  async latestInvoice(@Root() { latestInvoiceId }: BillingSubscription, @Ctx() ctx: Context): Promise<Invoice | null> {
    return latestInvoiceId === null ? null : loadRow(ctx, Invoice, 'id', latestInvoiceId);
  }

  @Access(VIEWERS)
  @FieldResolver(() => Promo, { nullable: true })
  async promo(@Root() { promoId }: BillingSubscription, @Ctx() ctx: Context): Promise<Promo | null> {
    return promoId === null ? null : loadRow(ctx, Promo, 'id', promoId);
  }

  @Access(VIEWERS)
  @FieldResolver(() => BillingSubscriptionChange, { nullable: true, description: 'Takes effect when the period ends.' })
  pendingChange(@Root() { id }: BillingSubscription, @Ctx() ctx: Context): Promise<BillingSubscriptionChange | null> {
    return pendingChangeOf(ctx, id);
  }

  @Access(VIEWERS)
  @FieldResolver(() => PaymentNextAction, { nullable: true, description: 'What the customer has to do before its last invoice is paid.' })
  async nextAction(@Root() { latestInvoiceId }: BillingSubscription, @Ctx() ctx: Context): Promise<PaymentNextAction | null> {
    return latestInvoiceId === null ? null : ((await waitingPayment(ctx, latestInvoiceId))?.nextAction ?? null);
  }

  @Access(VIEWERS)
  @FieldResolver(() => InvoicePreview, { nullable: true, description: 'The next charge as things stand; null where none comes.' })
  upcomingInvoice(@Root() subscription: BillingSubscription, @Ctx() ctx: Context): Promise<InvoicePreview | null> {
    return upcomingOf(ctx, subscription);
  }
}
