import type { Config } from '../../../runtime/config.js';
import { parseNetworks, type Network } from '../../../runtime/http/public-address.js';
import { postOutside } from './outside-http.js';
import type { TaxableLine, TaxPlace, TaxQuote } from './tax-quote.js';

const API_VERSION = '2026-10-28.clover';
const DEADLINE_MS = 3_000;
/** Stripe's codes of goods by our categories. https://docs.stripe.com/tax/tax-codes */
const TAX_CODES: Readonly<Record<string, string>> = {
  standard: 'txcd_99999999',
  food: 'txcd_40060003',
  medical: 'txcd_32020002',
  supplement: 'txcd_40020002',
  digital: 'txcd_10000000',
};

interface Calculation {
  line_items: {
    data: {
      reference: string;
      amount_tax: number;
      tax_breakdown?: {
        jurisdiction: { country: string; state: string | null };
        tax_rate_details: { display_name: string; percentage_decimal: string } | null;
      }[];
    }[];
  };
}

export interface StripeTaxSetting {
  url: string;
  key: string;
  allowed: readonly Network[];
}

function form(place: TaxPlace, currency: string, lines: readonly TaxableLine[]): string {
  const fields = new URLSearchParams({ currency: currency.toLowerCase(), 'customer_details[address_source]': 'shipping' });
  const address = { country: place.country, state: place.region, postal_code: place.postalCode, city: place.city, line1: place.line1 };
  for (const [name, value] of Object.entries(address)) if (value) fields.set(`customer_details[address][${name}]`, value);
  lines.forEach(({ reference, category, amount, quantity, taxInclusive }, index) => {
    const item = {
      reference,
      amount: String(amount),
      quantity: String(quantity),
      tax_behavior: taxInclusive ? 'inclusive' : 'exclusive',
      tax_code: TAX_CODES[category] ?? TAX_CODES.standard!,
    };
    for (const [name, value] of Object.entries(item)) fields.set(`line_items[${index}][${name}]`, value);
  });
  fields.set('expand[0]', 'line_items.data.tax_breakdown');
  return fields.toString();
}

function quoteFrom({ line_items: { data } }: Calculation, lines: readonly TaxableLine[]): TaxQuote {
  const byReference = new Map(data.map(one => [one.reference, one]));
  const found = lines.map(({ reference }) => byReference.get(reference));
  if (found.some(one => !one || !Number.isSafeInteger(one.amount_tax))) throw new Error('the calculation lacks a line');
  return {
    amounts: found.map(one => one!.amount_tax),
    lines: found.map(one => {
      const part = one!.tax_breakdown?.[0];
      const { country, state } = part?.jurisdiction ?? { country: '', state: null };
      return {
        jurisdiction: (state ? `${country}-${state}` : country).toLowerCase(),
        name: part?.tax_rate_details?.display_name ?? 'Tax',
        ppm: Math.round(Number(part?.tax_rate_details?.percentage_decimal ?? 0) * 10_000),
        amount: one!.amount_tax,
      };
    }),
  };
}

/** Stripe Tax by its calculations. https://docs.stripe.com/api/tax/calculations/create */
export class StripeTax {
  constructor(private readonly setting: StripeTaxSetting) {}

  /** @throws Error for anything but a whole calculation. */
  async quote(place: TaxPlace, currency: string, lines: readonly TaxableLine[]): Promise<TaxQuote> {
    const { url, key, allowed } = this.setting;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-www-form-urlencoded', 'stripe-version': API_VERSION };
    const answer = await postOutside(`${url}/v1/tax/calculations`, {
      headers,
      body: form(place, currency, lines),
      deadlineMs: DEADLINE_MS,
      allowed,
    });
    if (answer.status !== 200) throw new Error(`Stripe Tax answered with ${answer.status}`);
    return quoteFrom(JSON.parse(answer.text) as Calculation, lines);
  }
}

/** @throws Error where the key is missing. */
export function stripeTax(config: Config): StripeTax {
  const key = config.setting('COMMERCE_STRIPE_TAX_KEY');
  if (!key) throw new Error('COMMERCE_STRIPE_TAX_KEY is not set, and COMMERCE_TAX is stripe');
  const url = config.setting('COMMERCE_STRIPE_TAX_URL')?.replace(/\/+$/, '') ?? 'https://api.stripe.com';
  return new StripeTax({ url, key, allowed: config.production ? [] : parseNetworks(config.setting('COMMERCE_EGRESS_ALLOW_CIDRS') ?? '') });
}
