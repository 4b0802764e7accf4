/** An address as it was given, or as the address book has it. */
interface Given {
  line1: string;
  line2?: string | null;
  city: string;
  region?: string | null;
  postalCode?: string | null;
  countryCode: string;
}

export interface Address {
  line1: string;
  line2: string | null;
  city: string;
  region: string | null;
  postalCode: string | null;
  countryCode: string;
}

/** A snapshot: later changes of the address book never alter it. */
export const addressFrom = ({ line1, line2, city, region, postalCode, countryCode }: Given): Address => ({
  line1,
  line2: line2 ?? null,
  city,
  region: region ?? null,
  postalCode: postalCode ?? null,
  countryCode: countryCode.toUpperCase(),
});
