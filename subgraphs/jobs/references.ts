import { mayAccess, ruleOf } from '../../runtime/access/access.js';
import { rowReferences, stubReferences } from '../../runtime/data/references.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { Job } from './entities/job.js';
import { JobQueue } from './entities/queue.js';
import { JobSchedule } from './entities/schedule.js';
import { READERS } from './entities/enums.js';

/** Accounts and services are of others: whoever may read jobs may follow the key, and nobody else learns anything by it. */
const readersOnly: ReferenceLoader = async (ctx, references) =>
  mayAccess(ruleOf(READERS), ctx.caller) ? stubReferences(ctx, references) : references.map(() => null);

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  Job: rowReferences(Job, { readers: READERS }),
  JobQueue: rowReferences(JobQueue, { key: 'name', readers: READERS }),
  JobSchedule: rowReferences(JobSchedule, { key: 'key', readers: READERS }),
  User: readersOnly,
  PlatformService: readersOnly,
};
