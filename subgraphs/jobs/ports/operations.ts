import { stored, type StoredDocument } from '../../../runtime/federation/federation.js';

/**
 * Operations that a job may call, by name: the document is ours, only its variables are the job's. Reconciliation and sync runs of
 * commerce, payments and partner are added with those services. Source: jobs 4.
 */
export const OPERATIONS: Readonly<Record<string, StoredDocument>> = {
  'jobs.overview': stored('query JobsGraphqlOperationOverview { jobsOverview { queues { name depth deadCount } } }'),
};
