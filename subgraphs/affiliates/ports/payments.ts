import { stored } from '../../../runtime/federation/federation.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';

const SHARES = stored('query AffiliatesSharesMethod($ids: [ID!]!) { sharesPaymentMethod(userIds: $ids) }');
const DESTINATION = stored('query AffiliatesDestination($id: ID!) { payoutDestination(userId: $id) { __typename } }');
const CREATE = stored('mutation AffiliatesPayout($input: CreatePayoutInput!) { createPayout(input: $input) { id status } }');
const READ = stored('query AffiliatesPayoutStatus($id: ID!) { payout(id: $id) { id status failureCode } }');

/** The federation does not know the field: payments is not in it yet. */
const isAbsent = (error: unknown): boolean => error instanceof Problem && error.code === 'invalid_request';

/** Whether two users pay by the same card or account; while payments does not exist nobody does. @throws Problem while it cannot be reached. */
export async function sharesPaymentMethod(ctx: Context, a: string, b: string): Promise<boolean> {
  try {
    return (await ctx.federation.run<{ sharesPaymentMethod: boolean }>(SHARES, { ids: [a, b] })).sharesPaymentMethod;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

/** Whether payments knows where a user is to be paid; no answer is a no. */
export async function hasDestination(host: ServiceHost, userId: string): Promise<boolean> {
  try {
    return (await host.federation.run<{ payoutDestination: object | null }>(DESTINATION, { id: userId })).payoutDestination !== null;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

/** As payments has it. */
export interface Payout {
  id: string;
  status: 'REQUIRES_APPROVAL' | 'PENDING' | 'IN_TRANSIT' | 'PAID' | 'FAILED' | 'CANCELLED';
  failureCode?: string | null;
}

export interface PayoutRequest {
  userId: string;
  amount: { amount: number; currency: string };
  /** Payments pays each once. */
  reference: string;
}

/** What payments says of a request that it will not take; anything else may pass. */
const REFUSALS: readonly string[] = ['conflict', 'invalid_request', 'not_found', 'forbidden'];

/** Asks for a payout, once for each reference. A refusal is its reason; @throws Problem while payments cannot be reached. */
export async function createPayout(host: ServiceHost, input: PayoutRequest): Promise<Payout | { refused: string }> {
  try {
    return (await host.federation.run<{ createPayout: Payout }>(CREATE, { input }, { idempotencyKey: input.reference })).createPayout;
  } catch (error) {
    if (error instanceof Problem && REFUSALS.includes(error.code)) return { refused: (error.options.reason ?? error.code).toLowerCase() };
    throw error;
  }
}

/** A payout as it is now; null while payments cannot tell. */
export async function payoutOf(host: ServiceHost, id: string): Promise<Payout | null> {
  try {
    return (await host.federation.run<{ payout: Payout | null }>(READ, { id })).payout;
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}
