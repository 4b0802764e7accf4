import { roundHalfEven } from './rounding.js';

/** Parts of 10000 by region, `us-ca` before `us`; `default` for any other. */
export type TaxRates = Readonly<Record<string, number>>;

/** What is taxed: a line after its discount, minor units. */
export interface TaxedLine {
  amount: number;
  /** The amount holds the tax. */
  inclusive: boolean;
}

export interface Tax {
  /** Of each line, minor units, half to even. */
  amounts: number[];
  region: string | null;
}

interface Place {
  countryCode: string;
  region: string | null;
}

const WHOLE = 10_000n;
const isRate = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 10_000;

/** Rates as platform's configuration holds them; what is no rate is left out. */
export const taxRates = (value: unknown): TaxRates =>
  Object.fromEntries(
    Object.entries((value ?? {}) as Record<string, unknown>).flatMap(([region, rate]) =>
      isRate(rate) ? [[region.toLowerCase(), rate]] : [],
    ),
  );

/** Where something is taxed: the narrowest region that the brand has a rate for, else the country; null for nowhere known. */
export function regionOf(rates: TaxRates, place: Place | null): string | null {
  if (place === null) return null;
  const country = place.countryCode.toLowerCase();
  const narrow = place.region === null ? country : `${country}-${place.region.toLowerCase()}`;
  return narrow in rates ? narrow : country;
}

/** Tax of each line at the rate of its place. */
export function taxOf(rates: TaxRates, lines: readonly TaxedLine[], place: Place | null): Tax {
  const region = regionOf(rates, place);
  const rate = BigInt((region === null ? undefined : rates[region]) ?? rates.default ?? 0);
  const amounts = lines.map(({ amount, inclusive }) =>
    amount <= 0 ? 0 : roundHalfEven(BigInt(amount) * rate, inclusive ? WHOLE + rate : WHOLE),
  );
  return { amounts, region };
}
