import { reachesAll } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';

/** Belongs into the `where` beside the id: services, and staff by the permission of the rule, find anybody's rows, everybody else the own ones only. */
export const ownRows = ({ caller }: Context, rule: { staff?: string } = {}): { userId?: string } =>
  reachesAll(rule, caller) ? {} : { userId: caller.userId! };
