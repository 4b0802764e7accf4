import { CheckoutMode } from '../entities/enums-payment.js';

interface Violation {
  pointer: string;
  message: string;
}

const MOST_KEYS = 20;
const LONGEST_KEY = 40;
const LONGEST_VALUE = 500;
const MOST_OF_SUBSCRIPTION = 100;

/** What is wrong with free-form ids and labels of a caller. Source: payments 4.3. */
export function metadataViolations(
  metadata: Readonly<Record<string, unknown>> | null | undefined,
  pointer = '/input/metadata',
): Violation[] {
  const entries = Object.entries(metadata ?? {});
  const found = entries.flatMap(([key, value]) => {
    if ([...key].length > LONGEST_KEY) return [{ pointer: `${pointer}/${key}`, message: `a key has at most ${LONGEST_KEY} characters` }];
    if (typeof value === 'object' && value !== null)
      return [{ pointer: `${pointer}/${key}`, message: 'must be a text, number, true, false or null' }];
    if (typeof value === 'string' && [...value].length > LONGEST_VALUE)
      return [{ pointer: `${pointer}/${key}`, message: `must have at most ${LONGEST_VALUE} characters` }];
    return [];
  });
  return entries.length > MOST_KEYS ? [{ pointer, message: `must have at most ${MOST_KEYS} keys` }, ...found] : found;
}

export interface Asked {
  mode: CheckoutMode;
  items?: readonly { quantity: number }[] | null;
  orderId?: string | null;
  amount?: { amount: number } | null;
  reference?: object | null;
  description?: string | null;
  promoCode?: string | null;
  useCash: boolean;
  paymentMethodId?: string | null;
  paymentMethodToken?: string | null;
  offSession: boolean;
  metadata?: Readonly<Record<string, unknown>> | null;
}

const present = (value: unknown): boolean => value !== null && value !== undefined;

function whatIsBought({ mode, items, orderId, amount }: Asked): Violation[] {
  const given = [items, orderId, amount].filter(present).length;
  if (mode === CheckoutMode.SETUP) return given > 0 ? [{ pointer: '/input/mode', message: 'a setup buys nothing' }] : [];
  if (given !== 1) return [{ pointer: '/input', message: 'exactly one of items, order_id and amount is required' }];
  if (mode !== CheckoutMode.SUBSCRIPTION) return [];
  if (items?.length !== 1) return [{ pointer: '/input/items', message: 'a subscription has exactly one price' }];
  return items[0]!.quantity > MOST_OF_SUBSCRIPTION ? [{ pointer: '/input/items/0/quantity', message: 'must be at most 100' }] : [];
}

function forServices({ amount, offSession, reference, description }: Asked, isService: boolean): Violation[] {
  const found: Violation[] = [];
  if (!isService && present(amount)) found.push({ pointer: '/input/amount', message: 'is for service tokens' });
  if (!isService && offSession) found.push({ pointer: '/input/offSession', message: 'is for service tokens' });
  if (present(reference) && !present(amount)) found.push({ pointer: '/input/reference', message: 'goes with amount' });
  if (present(description) && !present(amount)) found.push({ pointer: '/input/description', message: 'goes with amount' });
  if (present(amount) && !present(reference)) found.push({ pointer: '/input/reference', message: 'is required with amount' });
  if (present(amount) && amount!.amount < 1) found.push({ pointer: '/input/amount/amount', message: 'must be at least 1' });
  return found;
}

/** What does not go together in a checkout, as pointers into its input. Source: payments 4.3. */
export function checkoutViolations(asked: Asked, isService: boolean): Violation[] {
  const found = [...whatIsBought(asked), ...forServices(asked, isService), ...metadataViolations(asked.metadata)];
  if (present(asked.paymentMethodId) && present(asked.paymentMethodToken))
    found.push({ pointer: '/input/paymentMethodToken', message: 'payment_method_id is given, too' });
  if (asked.offSession && !present(asked.paymentMethodId))
    found.push({ pointer: '/input/paymentMethodId', message: 'is required where the customer is absent' });
  if (present(asked.promoCode) && present(asked.orderId)) found.push({ pointer: '/input/promoCode', message: "is the order's business" });
  return found;
}
