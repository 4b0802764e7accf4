import { lazyPackage } from '../../../runtime/lazy.js';
import type { Violation } from '../../../runtime/request/errors.js';

/** The one function, without the package's other hundred. */
const postalCodes = lazyPackage<{ default: (code: string, country: string) => boolean }>(import.meta.url, 'validator/lib/isPostalCode.js');

/** Addresses of one user. Source: identity 2. */
export const MAX_ADDRESSES = 20;

/** Whether a postal code can be one of this country; countries without a known form take any. */
function fitsCountry(postalCode: string, countryCode: string): boolean {
  try {
    return postalCodes().default(postalCode, countryCode);
  } catch {
    return true; // the library knows no form for this country
  }
}

/** Violations of an address as a whole. */
export function addressViolations(address: { postalCode: string | null; countryCode: string }): Violation[] {
  const { postalCode, countryCode } = address;
  if (postalCode === null || fitsCountry(postalCode, countryCode)) return [];
  return [{ pointer: '/input/address/postalCode', message: `is not a postal code of ${countryCode}` }];
}

interface AddressChange {
  recipient?: string | null;
  address?: { line1?: string | null; city?: string | null; countryCode?: string | null } | null;
}

/** Violations of a change that clears what every address has. */
export const clearedViolations = ({ recipient, address }: AddressChange): Violation[] =>
  [
    ['/input/recipient', recipient],
    ['/input/address', address],
    ...(['line1', 'city', 'countryCode'] as const).map(name => [`/input/address/${name}`, address?.[name]] as const),
  ].flatMap(([pointer, value]) => (value === null ? [{ pointer: pointer as string, message: 'cannot be cleared' }] : []));
