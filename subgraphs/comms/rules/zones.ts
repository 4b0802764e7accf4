import { lazyPackage } from '../../../runtime/lazy.js';

const phoneNumbers = lazyPackage<typeof import('libphonenumber-js')>(import.meta.url, 'libphonenumber-js');

/** The zone of a country that has one only. */
function zoneOfCountry(country: string): string | null {
  const locale = new Intl.Locale('und', { region: country }) as Intl.Locale & { getTimeZones?(): string[] | undefined };
  const zones = locale.getTimeZones?.() ?? [];
  return zones.length === 1 ? zones[0]! : null;
}

/** The zone of a phone number's country, if that has one only. Source: comms 4.3. */
export function zoneOfPhone(phone: string): string | null {
  const country = phoneNumbers().parsePhoneNumberFromString(phone)?.country;
  return country ? zoneOfCountry(country) : null;
}
