import { Client, buildConnector } from 'undici';
import { checkedAddresses, pinnedLookup, resolveByDns } from '../../../runtime/http/checked-addresses.js';
import { hostOf } from '../../../runtime/http/outside-url.js';
import type { Network } from '../../../runtime/http/public-address.js';

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

export interface OutsideCall {
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Over names, connection and body; ms. */
  deadlineMs: number;
  /** Networks besides the public ones; development and tests. */
  allowed?: readonly Network[];
}

export interface OutsideAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** POSTs to a vendor: only judged addresses are connected to, no redirects, one deadline, a size limit. @throws Error of the network. */
export async function postOutside(address: string, { headers, body, deadlineMs, allowed = [] }: OutsideCall): Promise<OutsideAnswer> {
  const url = new URL(address);
  const addresses = await checkedAddresses(hostOf(url), resolveByDns, allowed);
  const client = new Client(url.origin, {
    connect: buildConnector({ lookup: pinnedLookup(addresses), timeout: deadlineMs }),
    allowH2: false,
  });
  try {
    const signal = AbortSignal.timeout(deadlineMs);
    const answer = await client.request({ method: 'POST', path: url.pathname + url.search, headers: { ...headers }, body, signal });
    return { status: answer.statusCode, headers: answer.headers, text: await textOf(answer.body) };
  } finally {
    await client.destroy();
  }
}
