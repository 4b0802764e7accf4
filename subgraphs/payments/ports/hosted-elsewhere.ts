import type { ServiceHost } from '../../../runtime/request/context.js';
import type { Money } from '../../../runtime/schema/scalars.js';
import { PaymentProcessor } from '../entities/enums-payment.js';
import { processorOf } from './processors.js';

interface Checkout {
  sessionId: string;
  customerId: string;
  total: Money;
  pageUrl: string;
  returnUrl: string;
  cancelUrl: string | null;
  isSetup: boolean;
}

/** Whether the processor has pages of its own, to which ours lead on. */
export const hasOwnPages = (host: ServiceHost): boolean => processorOf(host).name === PaymentProcessor.STRIPE;

/** The processor's own page for a purchase; the session is the key. Null: it cannot be had right now. */
export async function checkoutElsewhere(host: ServiceHost, one: Checkout): Promise<string | null> {
  const { sessionId, customerId, total, pageUrl, returnUrl, cancelUrl, isSetup } = one;
  const result = await host.read(ctx =>
    processorOf(host).createHostedCheckout(
      { ...total, customerId, pageUrl, returnUrl, cancelUrl, mode: isSetup ? 'setup' : 'payment', metadata: { session_id: sessionId } },
      { idempotencyKey: `page:${sessionId}`, clock: ctx.clock },
    ),
  );
  return result.status === 'succeeded' ? result.data.url : null;
}

/** The processor's own billing pages. Null: they cannot be had right now. */
export async function portalElsewhere(
  host: ServiceHost,
  { sessionId, customerId, pageUrl, returnUrl }: Pick<Checkout, 'sessionId' | 'customerId' | 'pageUrl' | 'returnUrl'>,
): Promise<string | null> {
  const result = await host.read(ctx =>
    processorOf(host).createPortal({ customerId, pageUrl, returnUrl }, { idempotencyKey: `portal:${sessionId}`, clock: ctx.clock }),
  );
  return result.status === 'succeeded' ? result.data.url : null;
}
