import Bowser from 'bowser';

/** What somebody signed in with, as far as the browser says; null for what it does not. */
export interface Device {
  browser: string | null;
  os: string | null;
  /** `desktop`, `mobile`, `tablet`, `tv` or `bot`. */
  formFactor: string | null;
}

/** A longer one is nobody's. */
const LONGEST = 512;

/** Without versions: they change by themselves, and a person recognises the name. */
export function deviceOf(userAgent: string): Device {
  if (!userAgent || userAgent.length > LONGEST) return { browser: null, os: null, formFactor: null };
  const { browser, os, platform } = Bowser.parse(userAgent);
  return { browser: browser.name || null, os: os.name || null, formFactor: platform.type || null };
}

/** ISO 3166-1 alpha-2; null for what is none, such as `XX` and `T1` of networks without a place. */
export const countryOf = (text: string): string | null => (/^[A-Z]{2}$/.test(text) && text !== 'XX' ? text : null);
