import { mayAccess, ruleOf } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { BACK_OFFICE } from './access.js';

const rule = ruleOf(BACK_OFFICE);

/** What services and staff see and user tokens do not: mark S. Source: payments 2. */
export const forBackOffice = <Value>(ctx: Context, value: Value): Value | null => (mayAccess(rule, ctx.caller) ? value : null);
