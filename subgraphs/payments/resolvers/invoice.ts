import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow, loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import type { Problem } from '../../../runtime/request/errors.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { TwoPhase } from '../../../runtime/request/two-phase.js';
import { Url } from '../../../runtime/schema/scalars.js';
import { paid, paying, retryInvoices, voidByStaff, writeOffByStaff } from '../commands/invoice-operations.js';
import { BUYERS, INVOICE_READERS, staffWith, VIEWERS } from '../entities/access.js';
import { DunningRun } from '../entities/billing-views.js';
import { CreditNote, Invoice, InvoiceConnection, InvoiceLine } from '../entities/invoice.js';
import { Payment } from '../entities/payment.js';
import { BillingPrice } from '../entities/price.js';
import { Refund } from '../entities/refund.js';
import { BillingSubscription } from '../entities/subscription.js';
import { CloseInvoiceInput, PayInvoiceInput, RetryInvoicesInput, UserInvoicesArgs } from '../inputs/invoice.js';
import { findInvoice, linesOfInvoice, notesOfInvoice, pageOfInvoices, paymentsOfInvoice } from '../queries/billing.js';
import { ownRows } from '../queries/own-rows.js';

const pdfOf = ({ host }: Context, path: string): string => `${host.config.baseUrl}/payments/v1/${path}/pdf`;

@Resolver(() => Invoice)
export class InvoiceResolver {
  @Access(INVOICE_READERS)
  @Query(() => InvoiceConnection, { description: "A user's invoices, newest first." })
  userInvoices(@Args(() => UserInvoicesArgs) args: UserInvoicesArgs, @Ctx() ctx: Context): Promise<Connection<Invoice>> {
    return pageOfInvoices(ctx, args);
  }

  @Access(INVOICE_READERS)
  @Query(() => Invoice, { nullable: true })
  invoice(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Invoice | null> {
    return findInvoice(ctx, id);
  }

  @Access(INVOICE_READERS)
  @Query(() => CreditNote, { nullable: true })
  creditNote(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<CreditNote | null> {
    return findRow(ctx, CreditNote, { id, ...ownRows(ctx, INVOICE_READERS) });
  }

  @Access(BUYERS)
  @TwoPhase(paying)
  @Mutation(() => Invoice, { description: 'Pays what is due of an invoice now.' })
  payInvoice(@Arg('input', () => PayInvoiceInput) _input: PayInvoiceInput, @Ctx() ctx: Context): Promise<Invoice | Problem> {
    return paid(ctx);
  }

  @Access(staffWith('invoice:write'))
  @Mutation(() => Invoice, { description: 'Takes an invoice back of which nothing was paid.' })
  voidInvoice(@Arg('input', () => CloseInvoiceInput) input: CloseInvoiceInput, @Ctx() ctx: Context): Promise<Invoice> {
    return voidByStaff(ctx, input);
  }

  @Access(staffWith('invoice:write'))
  @Mutation(() => Invoice, { description: 'Writes an invoice off.' })
  markInvoiceUncollectible(@Arg('input', () => CloseInvoiceInput) input: CloseInvoiceInput, @Ctx() ctx: Context): Promise<Invoice> {
    return writeOffByStaff(ctx, input);
  }

  @Access(staffWith('dunning:run'))
  @OwnTransactions('an invoice that was tried is paid, in progress or not due when it is tried again')
  @Mutation(() => DunningRun, { description: 'Tries invoices that are past due.' })
  retryInvoices(@Arg('input', () => RetryInvoicesInput) input: RetryInvoicesInput, @Ctx() ctx: Context): Promise<DunningRun> {
    return retryInvoices(ctx, input);
  }

  @Access(VIEWERS)
  @FieldResolver(() => BillingSubscription, { nullable: true })
  async subscription(@Root() { subscriptionId }: Invoice, @Ctx() ctx: Context): Promise<BillingSubscription | null> {
    return subscriptionId === null ? null : loadRow(ctx, BillingSubscription, 'id', subscriptionId);
  }

  @Access(VIEWERS)
  @FieldResolver(() => [InvoiceLine])
  lines(@Root() { id }: Invoice, @Ctx() ctx: Context): Promise<InvoiceLine[]> {
    return linesOfInvoice(ctx, id);
  }

  @Access(VIEWERS)
  @FieldResolver(() => [Payment])
  payments(@Root() { id }: Invoice, @Ctx() ctx: Context): Promise<Payment[]> {
    return paymentsOfInvoice(ctx, id);
  }

  @Access(VIEWERS)
  @FieldResolver(() => [CreditNote])
  creditNotes(@Root() { id }: Invoice, @Ctx() ctx: Context): Promise<CreditNote[]> {
    return notesOfInvoice(ctx, id);
  }

  @Access(VIEWERS)
  @FieldResolver(() => Url, { nullable: true, description: 'Its document; null while it is a draft.' })
  pdfUrl(@Root() { id, number }: Invoice, @Ctx() ctx: Context): string | null {
    return number === null ? null : pdfOf(ctx, `billing/invoices/${id}`);
  }
}

@Resolver(() => InvoiceLine)
export class InvoiceLineResolver {
  @Access(VIEWERS)
  @FieldResolver(() => BillingPrice, { nullable: true })
  async price(@Root() { priceId }: InvoiceLine, @Ctx() ctx: Context): Promise<BillingPrice | null> {
    return priceId === null ? null : loadRow(ctx, BillingPrice, 'id', priceId);
  }
}

@Resolver(() => CreditNote)
export class CreditNoteResolver {
  @Access(VIEWERS)
  @FieldResolver(() => Invoice)
  async invoice(@Root() { invoiceId }: CreditNote, @Ctx() ctx: Context): Promise<Invoice> {
    return (await loadRow(ctx, Invoice, 'id', invoiceId))!;
  }

  @Access(VIEWERS)
  @FieldResolver(() => Refund)
  async refund(@Root() { refundId }: CreditNote, @Ctx() ctx: Context): Promise<Refund> {
    return (await loadRow(ctx, Refund, 'id', refundId))!;
  }

  @Access(VIEWERS)
  @FieldResolver(() => Url, { nullable: true })
  pdfUrl(@Root() { id }: CreditNote, @Ctx() ctx: Context): string {
    return pdfOf(ctx, `credit-notes/${id}`);
  }
}
