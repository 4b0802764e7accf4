/** A line to be taxed; minor units, after discount. */
export interface TaxableLine {
  reference: string;
  category: string;
  amount: number;
  quantity: number;
  taxInclusive: boolean;
}

export interface TaxPlace {
  line1?: string | null;
  city?: string | null;
  postalCode?: string | null;
  country: string;
  region: string | null;
}

export interface TaxRate {
  jurisdiction: string;
  name: string;
  ppm: number;
}

/** Taxes of lines as an outside service finds them, by line, with the rates that it names. */
export interface TaxQuote {
  amounts: readonly number[];
  lines: readonly (TaxRate & { amount: number })[];
}
