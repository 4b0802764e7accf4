import { stored, type StoredDocument } from '../../../runtime/federation/federation.js';

/**
 * Operations that a job may call, by name: the document is ours, only its variables are the job's. Those of partner are added with it. Source: jobs 4.
 */
export const OPERATIONS: Readonly<Record<string, StoredDocument>> = {
  'payments.reconcile': stored(
    `mutation JobsReconcilePayments($input: ReconcileProcessorStorefrontInput! = {}) { reconcileProcessorStorefront(input: $input) { id status } }`,
  ),
  'payments.retry_invoices': stored(
    `mutation JobsRetryInvoices($input: RetryInvoicesInput!) { retryInvoices(input: $input) { id attempted succeeded failed } }`,
  ),
  'payments.monitor_failures': stored(
    `mutation JobsMonitorPaymentFailures($input: MonitorPaymentFailuresInput! = { resolveStuck: true }) {
      monitorPaymentFailures(input: $input) { attempts failures breached alertId }
    }`,
  ),
  'commerce.sync': stored(
    'mutation JobsStartCommerceSync($input: StartCommerceSyncInput!) { startCommerceSync(input: $input) { id status } }',
  ),
  'commerce.reconcile': stored(
    `query JobsReconcileCommerce($from: DateTime!, $to: DateTime!) {
      commerceReconciliation(from: $from, to: $to) { ordersChecked breaches { code orderId variantId detail } }
    }`,
  ),
  'jobs.overview': stored('query JobsGraphqlOperationOverview { jobsOverview { queues { name depth deadCount } } }'),
};
