import type { Config } from '../../../runtime/config.js';
import { BlockedAddress, DnsFailure } from '../../../runtime/http/checked-addresses.js';
import { FetchRefused, guardedPage, type FetchedPage } from '../../../runtime/http/guarded-fetch.js';
import { parseNetworks } from '../../../runtime/http/public-address.js';
import { fail } from '../../../runtime/request/errors.js';

/** Source: content, rule 15. */
const LIMITS = {
  deadlineMs: 5_000,
  connectMs: 2_000,
  maxBytes: 1024 * 1024,
  redirects: 3,
  accept: 'text/html,application/xhtml+xml;q=0.9,image/*;q=0.5',
  stopAt: '</head>',
};

/** One answer for whatever is refused, so that nobody can map a network with it. */
const notAllowed = (cause: unknown): never =>
  fail('invalid_request', 'This address cannot be looked at', { reason: 'url_not_allowed', cause });

const isRefusal = ({ reason, cause }: FetchRefused): boolean =>
  reason !== 'unreachable' || cause instanceof BlockedAddress || cause instanceof DnsFailure;

/** The beginning of an outside page; `late` or null where it did not answer. @throws Problem invalid_request `url_not_allowed`. */
export async function outsidePage(config: Config, url: string): Promise<FetchedPage | 'late' | null> {
  const allowed = config.production ? [] : parseNetworks(config.setting('CONTENT_EGRESS_ALLOW_CIDRS') ?? '');
  try {
    return await guardedPage(url, { ...LIMITS, allowed });
  } catch (error) {
    if (!(error instanceof FetchRefused) || isRefusal(error)) return notAllowed(error);
    return (error.cause as Error | undefined)?.name === 'TimeoutError' ? 'late' : null;
  }
}

/** In the form under which it is kept: parsed, without a fragment. @throws Problem invalid_request `url_not_allowed`. */
export function normalisedUrl(text: string): string {
  const url = text.length > 2048 ? null : URL.parse(text);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return notAllowed(null);
  url.hash = '';
  return url.href;
}
