import type { Context } from '../../../runtime/request/context.js';
import { opened } from './sealed.js';

interface Hosted {
  id: string;
  tokenSealed: Buffer | null;
}

/** Address of the page on which a session is paid; its token is kept sealed, and found by its hash. Null once the session ended. */
export function hostedUrl(ctx: Context, { id, tokenSealed }: Hosted): string | null {
  const token = opened<string>(ctx, tokenSealed, 'hosted_session', id);
  return token && `${ctx.host.config.baseUrl}/payments/pay/${token}`;
}

/** Address of the billing pages; once it was used, of where they lead back. */
export function portalUrl(ctx: Context, { id, tokenSealed, returnUrl }: Hosted & { returnUrl: string }): string {
  const token = opened<string>(ctx, tokenSealed, 'hosted_session', id);
  return token === null ? returnUrl : `${ctx.host.config.baseUrl}/payments/portal/${token}`;
}
