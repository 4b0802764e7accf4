import type { Context } from '../../../../runtime/request/context.js';
import { fail } from '../../../../runtime/request/errors.js';
import { after } from '../../../../runtime/time/durations.js';
import type { Parts } from '../../rules/refund.js';
import { PREVIEW_MS } from '../preview-token.js';
import type { Ground } from './ground.js';

const CONTEXT = 'refund_preview';

/** What a preview has shown, and of which state: any refund, dispute or capture since then changes it. */
const shown = ({ payment, session, invoice, left }: Ground, parts: Parts): string =>
  JSON.stringify([payment?.id ?? null, session?.id ?? null, invoice?.id ?? null, left, parts]);

/** A token that binds a following refund to what was shown. */
export const refundToken = (ctx: Context, ground: Ground, parts: Parts): string =>
  ctx.host.sealer.seal(JSON.stringify({ at: ctx.now().getTime(), what: shown(ground, parts) }), CONTEXT).toString('base64url');

function read(ctx: Context, token: string): { at: number; what: string } | null {
  try {
    return JSON.parse(ctx.host.sealer.open(Buffer.from(token, 'base64url'), CONTEXT)) as { at: number; what: string };
  } catch {
    return null;
  }
}

/** @throws Problem conflict, reason `preview_outdated`, where the world has moved since the preview. Source: payments 9.2. */
export function requirePreviewed(ctx: Context, token: string, ground: Ground, parts: Parts): void {
  const bound = read(ctx, token);
  if (bound?.what !== shown(ground, parts) || after(new Date(bound.at), PREVIEW_MS) <= ctx.now())
    fail('conflict', 'it is no longer as it was previewed', { reason: 'preview_outdated' });
}
