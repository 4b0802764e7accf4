import { messageSendRequested } from '../../../events/catalogue/comms.js';
import type { Context } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';

/** To whom and about what; `params` are ids, codes and times only. */
export interface Notice {
  template: string;
  params: Record<string, string | number>;
  category?: 'transactional' | 'clinical';
  /** The same one is not sent again. Default: template and params. */
  dedupeKey?: string;
}

function request(
  ctx: Context,
  { template, params, category = 'transactional', dedupeKey }: Notice,
  to: { role: string } | { userId: string },
): void {
  const role = 'role' in to ? to.role : null;
  ctx.emit(
    messageSendRequested,
    {
      request_id: newId(),
      template,
      channels: role === null ? [] : ['email'], // none: what the template's topic says
      recipient_type: role === null ? 'user' : 'staff_role',
      recipient_id: role,
      params,
      dedupe_key: (dedupeKey ?? `${template}:${Object.values(params).join(':')}`).slice(0, 200),
      send_after: null,
      category,
    },
    role === null ? { userId: (to as { userId: string }).userId } : {},
  );
}

/** Asks comms for a message to the member whom a run concerns. */
export const messageUser = (ctx: Context, userId: string, notice: Notice): void => request(ctx, notice, { userId });

/** Asks comms for a message to all staff of a role. */
export const messageRole = (ctx: Context, role: string, notice: Notice): void => request(ctx, notice, { role });

/** Tells the developers, once for each thing. */
export const alarm = (ctx: Context, template: string, params: Record<string, string | number>): void =>
  messageRole(ctx, 'developer', { template, params });
