import { fail } from '../../../runtime/request/errors.js';
import type { Context } from '../../../runtime/request/context.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import type { BillingSubscription } from '../entities/subscription.js';

/** A preview binds what follows for so long. Source: payments 9.2. */
export const PREVIEW_MS = 10 * MINUTE_MS;
const CONTEXT = 'subscription_preview';

/** What was previewed. */
interface Previewed {
  price: { id: string };
  quantity: number;
  effective: string | null;
  isProrated: boolean;
}

interface Bound {
  id: string;
  version: number;
  /** Epoch milliseconds as of which it was reckoned. */
  at: number;
  what: string;
}

const textOf = ({ price, quantity, effective, isProrated }: Previewed): string =>
  JSON.stringify([price.id, quantity, effective, isProrated]);

/** A token that binds a following call to what a preview has shown. */
export function previewToken(ctx: Context, { id, version }: BillingSubscription, previewed: Previewed): string {
  const bound: Bound = { id, version, at: ctx.now().getTime(), what: textOf(previewed) };
  return ctx.host.sealer.seal(JSON.stringify(bound), CONTEXT).toString('base64url');
}

function read(ctx: Context, token: string): Bound | null {
  try {
    return JSON.parse(ctx.host.sealer.open(Buffer.from(token, 'base64url'), CONTEXT)) as Bound;
  } catch {
    return null;
  }
}

/** The instant as of which a change is made that was previewed. @throws Problem conflict, reason `preview_outdated`, where the world has moved. */
export function previewAt(ctx: Context, token: string, { id, version }: BillingSubscription, wanted: Previewed): Date {
  const bound = read(ctx, token);
  const isOfThis = bound !== null && bound.id === id && bound.version === version && bound.what === textOf(wanted);
  if (!isOfThis || after(new Date(bound.at), PREVIEW_MS) <= ctx.now())
    fail('conflict', 'it is no longer as it was previewed', { reason: 'preview_outdated' });
  return new Date(bound.at);
}
