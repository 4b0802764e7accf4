import type { GraphQLObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import type { Slug } from '../../events/slugs.js';
import { ruleOnNode, type AccessRule } from '../../runtime/access/rules.js';
import { buildSubgraph } from '../../runtime/subgraph.js';
import { declarations } from './composition.js';

/**
 * Who may call, as the column "who" of section 4 of a service's contract says it. The other files on access derive what they expect from
 * the rules in the code; this one holds the rules against the contract, for the services that stand here.
 */
const S = { service: 'admin:jobs' };
const read = { ...S, staff: 'admin:jobs:workflow:read' };
const operate = { ...S, staff: 'admin:jobs:workflow:operate' };
/** Any staff: whose role or id is the assignee is looked at by the operation, tests/workflow/callers.test.ts. */
const assignee = { ...S, staff: '*' };

const P = { service: 'admin:payments' };
/** A user for themselves, or a service. */
const own = (scope: string) => ({ ...P, user: [scope], self: true });
const buys = own('manage:subscriptions');
/** Beyond the contract: staff who may read a member's whole billing read its parts, too. */
const shown = (scope: string) => ({ ...own(scope), staff: 'admin:payments:read' });
const [reads, readsInvoices] = [shown('read:payments'), shown('read:invoices')];
const alone = { user: ['manage:subscriptions'] };
const payee = { ...buys, firstParty: true, stepUp: 600 };
/** Staff with a permission, or a service. */
const A = (permission: string) => ({ ...P, staff: `admin:payments:${permission}` });

const CONTRACTS: Readonly<Partial<Record<Slug, Readonly<Record<string, AccessRule>>>>> = {
  workflow: {
    workflowDefinitions: read,
    workflowDefinition: read,
    setWorkflowEnabled: operate,
    startWorkflow: operate,
    workflowRuns: read,
    workflowRun: read,
    cancelWorkflowRun: operate,
    resumeWorkflowRun: operate,
    forkWorkflowRun: operate,
    signalWorkflowRun: S,
    workflowTasks: assignee,
    claimWorkflowTask: assignee,
    releaseWorkflowTask: assignee,
    completeWorkflowTask: assignee,
    workflowSchedules: read,
    setWorkflowClock: S,
    // section 6
    'User.workflowRuns': read,
    'CriticalAlert.workflowRun': read,
    'LoopTick.workflowRun': read,
  },
  payments: {
    // 4.1
    disputes: A('dispute:read'),
    dispute: A('dispute:read'),
    retryInvoices: A('dunning:run'),
    memberBillingSummary: A('read'),
    monitorPaymentFailures: A('monitor'),
    promos: A('promo:read'),
    createPromo: A('promo:write'),
    reconcileProcessorStorefront: A('reconcile'),
    refunds: A('refund:read'),
    createStaffRefund: A('refund:write'),
    adminCancelBillingSubscription: A('subscription:write'),
    adminPauseBillingSubscription: A('subscription:write'),
    adminResumeBillingSubscription: A('subscription:write'),
    syncTelehealthCharge: A('sync'),
    replayProcessorEvents: A('webhook:replay'),
    createGiftCheckoutSession: buys,
    finalizeGiftCheckoutSession: buys,
    redeemGift: alone,
    userInvoices: readsInvoices,
    userPaymentMethods: reads,
    createPortalSession: buys,
    cancelMyBillingSubscription: alone,
    pauseMyBillingSubscription: alone,
    billingSummary: reads,
    createCheckout: buys,
    payment: reads,
    customerPaymentMethods: reads,
    validatePromo: { service: '*', user: ['*'], staff: '*', self: true }, // staff hold user tokens
    createRefund: P,
    createBillingSubscription: buys,
    billingSubscription: shown('read:subscriptions'),
    updateBillingSubscription: buys,
    cancelBillingSubscription: buys,
    changeBillingCadence: buys,
    pauseBillingSubscription: buys,
    resumeBillingSubscription: buys,
    // 4.2
    checkoutSession: buys,
    confirmCheckout: buys,
    cancelCheckout: buys,
    capturePayment: P,
    cancelPayment: P,
    payments: reads,
    attachPaymentMethod: buys,
    detachPaymentMethod: buys,
    setDefaultPaymentMethod: buys,
    invoice: readsInvoices,
    payInvoice: buys,
    billingPrices: A('price:read'),
    createBillingPrice: A('price:write'),
    updateBillingPrice: A('price:write'),
    updatePromo: A('promo:write'),
    approveRefund: A('refund:approve'),
    rejectRefund: A('refund:approve'),
    submitDisputeEvidence: A('dispute:write'),
    acceptDispute: A('dispute:write'),
    createPayout: A('payout:write'),
    payouts: A('payout:read'),
    payout: A('payout:read'),
    cancelPayout: A('payout:write'),
    approvePayout: A('payout:approve'),
    rejectPayout: A('payout:approve'),
    payoutDestination: payee,
    setPayoutDestination: payee,
    removePayoutDestination: payee,
    voidInvoice: A('invoice:write'),
    markInvoiceUncollectible: A('invoice:write'),
    creditNote: readsInvoices,
    financeOverview: A('read'),
    reconciliationRun: A('reconcile'),
    sharesPaymentMethod: P,
    reservePromo: P,
    commitPromoRedemption: P,
    releasePromoRedemption: P,
    giftDelivery: { internal: ['comms'] },
    paymentTimeline: reads,
    previewSubscriptionChange: buys,
    previewRefund: P,
    processorEvents: A('webhook:replay'),
    sandboxAction: P,
    setPaymentsClock: P,
  },
};

const rulesOf = (type: GraphQLObjectType | null | undefined, prefix = ''): [string, AccessRule | null][] =>
  Object.values(type?.getFields() ?? {})
    .filter(({ name }) => !name.startsWith('_'))
    .map(({ name, astNode }) => [`${prefix}${name}`, ruleOnNode(astNode)]);

describe.each(Object.entries(CONTRACTS))('%s', (slug, contract) => {
  const schema = buildSubgraph(declarations.find(one => one.slug === slug)!);
  const extended = [...new Set(Object.keys(contract).flatMap(name => (name.includes('.') ? [name.split('.')[0]!] : [])))];
  const added = extended.flatMap(name =>
    rulesOf(schema.getType(name) as GraphQLObjectType, `${name}.`).filter(([field]) => field in contract),
  );

  test('every operation is open to the callers that the contract names, and to no other', () => {
    const rules = [...rulesOf(schema.getQueryType()), ...rulesOf(schema.getMutationType()), ...added];
    expect(Object.fromEntries(rules)).toEqual(contract);
  });
});
