import { buildConnector, Client } from 'undici';
import { checkedAddresses, pinnedLookup, resolveByDns } from '../../../runtime/http/checked-addresses.js';
import { addressFault, hostOf } from '../../../runtime/http/outside-url.js';
import type { Network } from '../../../runtime/http/public-address.js';

const MAX_BYTES = 65_536;

export interface Posted {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

async function bounded(body: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of body) {
    text += chunk.toString();
    if (text.length > MAX_BYTES) throw new Error('the answer is too large');
  }
  return text;
}

/**
 * POSTs to an address that somebody else named: resolved by us, each address judged, only judged ones reachable, no redirects, one deadline
 * over names, connection and body. @throws Error naming neither address nor answer.
 */
export async function guardedPost(
  address: string,
  {
    headers,
    body,
    deadlineMs,
    allowed,
  }: { headers: Record<string, string>; body: string | Buffer; deadlineMs: number; allowed: readonly Network[] },
): Promise<Posted> {
  if (addressFault(address, allowed) !== null) throw Object.assign(new Error('the address may not be reached'), { code: 'BLOCKED' });
  const [url, signal] = [new URL(address), AbortSignal.timeout(deadlineMs)];
  const addresses = await checkedAddresses(hostOf(url), resolveByDns, allowed);
  const client = new Client(url.origin, {
    connect: buildConnector({ lookup: pinnedLookup(addresses), timeout: deadlineMs }),
    allowH2: false,
  });
  const cut = (): void => void client.destroy();
  signal.addEventListener('abort', cut, { once: true });
  try {
    const answer = await client.request({ method: 'POST', path: url.pathname + url.search, headers, body });
    return { status: answer.statusCode, headers: answer.headers, body: await bounded(answer.body as AsyncIterable<Buffer>) };
  } finally {
    signal.removeEventListener('abort', cut);
    await client.destroy();
  }
}
