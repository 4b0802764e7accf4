import { stored, type StoredDocument } from '../../../runtime/federation/federation.js';

/**
 * Operations that a job may call, by name: the document is ours, only its variables are the job's. Reconciliation and sync runs of
 * commerce, payments and partner are added with those services. Source: jobs 4.
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
  'jobs.overview': stored('query JobsGraphqlOperationOverview { jobsOverview { queues { name depth deadCount } } }'),
};
