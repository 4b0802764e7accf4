import { newId } from '../../../runtime/data/ids.js';
import { requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import type { CommsSendRequest } from '../entities/message.js';
import { CommsTemplate } from '../entities/template.js';
import type { Values } from '../rules/content.js';
import { accept } from './request.js';

/** Sends a template with its example to whoever asks, and to nobody else. @throws Problem not_found. */
export async function testTemplate(ctx: Context, id: string): Promise<CommsSendRequest> {
  const template = await requireRow(ctx, CommsTemplate, { id });
  const { request } = await accept(ctx, {
    source: 'staff',
    dedupeKey: `test:${template.key}:${newId()}`,
    template: template.key,
    recipientType: 'user',
    userId: ctx.caller.userId!,
    params: template.example as Values,
    brandId: template.brandId,
  });
  ctx.audit('template.tested', id);
  return request;
}
