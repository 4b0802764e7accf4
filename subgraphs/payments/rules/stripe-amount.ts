import { exponentOf } from './iso-4217.js';

/** Where Stripe counts in other units than ISO 4217. Source: https://docs.stripe.com/currencies#special-cases */
const STRIPE_EXPONENTS: Readonly<Record<string, number>> = {
  ISK: 2, // whole krónur, written with two decimals
  UGX: 2,
  MGA: 0, // ISO 4217 says 2, though an ariary has five iraimbilanja
};

/** Amounts of these must end with a zero: Stripe's networks carry two decimals. */
const STEPS_OF_TEN = 3;

const stripeExponent = (currency: string): number => STRIPE_EXPONENTS[currency] ?? exponentOf(currency);

/** The other way, exactly. */
const scaled = (amount: number, by: number): number | null => {
  if (by >= 0) return amount * 10 ** by;
  const divisor = 10 ** -by;
  return amount % divisor === 0 ? amount / divisor : null;
};

/** An amount in ISO 4217's minor units as Stripe counts it; null where Stripe cannot express it. */
export function toStripe(amount: number, currency: string): number | null {
  if (stripeExponent(currency) === STEPS_OF_TEN && amount % 10 !== 0) return null;
  const value = scaled(amount, stripeExponent(currency) - exponentOf(currency));
  return value !== null && Number.isSafeInteger(value) ? value : null;
}

/** An amount of Stripe in minor units of ISO 4217. @throws Error where it has a fraction of one, which Stripe does not send. */
export function fromStripe(amount: number, currency: string): number {
  const value = scaled(amount, exponentOf(currency) - stripeExponent(currency));
  if (value === null || !Number.isSafeInteger(value)) throw new Error(`an amount in ${currency} is no whole number of minor units`);
  return value;
}
