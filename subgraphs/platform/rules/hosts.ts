import { domainToASCII } from 'node:url';

const HOST = /^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$/;
const MAX_HOST = 253;

/** A host as it is stored: lower-case A-label, no trailing dot, no port; null for what is no host name. */
export function storedHost(host: string): string | null {
  if (/[:/@?#\\%]/.test(host)) return null;
  const ascii = domainToASCII(host.replace(/\.$/, ''));
  return ascii.length <= MAX_HOST && HOST.test(ascii) ? ascii : null;
}
