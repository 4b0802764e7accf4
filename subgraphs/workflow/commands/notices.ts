import type { Context } from '../../../runtime/request/context.js';
import { requestMessage, type Recipient } from '../../../runtime/request/messages.js';

/** What somebody is told, by comms; `params` are ids, codes and times only. */
export interface Notice {
  template: string;
  params: Record<string, string | number>;
  category?: 'transactional' | 'clinical';
  /** The same one is not sent again. Default: template and params. */
  dedupeKey?: string;
}

const dedupeKeyOf = ({ template, params }: Notice): string => `${template}:${Object.values(params).join(':')}`;

const notify = (ctx: Context, to: Recipient, notice: Notice, channels: 'email'[]): void =>
  requestMessage(ctx, to, { channels, dedupeKey: dedupeKeyOf(notice), ...notice });

/** Asks comms for a message to the member whom a run concerns, over the channels of the template's topic. */
export const notifyUser = (ctx: Context, userId: string, notice: Notice): void => notify(ctx, { userId }, notice, []);

/** Asks comms for a message to all staff of a role. */
export const notifyRole = (ctx: Context, staffRole: string, notice: Notice): void => notify(ctx, { staffRole }, notice, ['email']);

/** Tells the developers, once for each thing. */
export const alarm = (ctx: Context, template: string, params: Record<string, string | number>): void =>
  notifyRole(ctx, 'developer', { template, params });
