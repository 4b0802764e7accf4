import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { addressFrom, type Address } from '../rules/personal.js';
import { ask } from './neighbour.js';

const ASK = stored(`query CommerceAddresses($userId: ID!) { userAddresses(userId: $userId, first: 100) {
  nodes { id recipient phone address { line1 line2 city region postalCode countryCode } } } }`);

interface Answer {
  userAddresses: { nodes: { id: string; recipient: string; phone: string | null; address: Address }[] };
}

/** An entry of the user's address book, asked of identity; outside transactions. @throws Problem not_found, unavailable. */
export async function addressOf(
  host: Pick<ServiceHost, 'federation'>,
  userId: string,
  id: string,
): Promise<{ address: Address; recipientName: string; phone: string | null }> {
  const { userAddresses } = await ask<Answer>(host, ASK, { userId });
  const found = userAddresses.nodes.find(one => one.id === id.toLowerCase()) ?? fail('not_found', 'No such address');
  return { address: addressFrom(found.address), recipientName: found.recipient, phone: found.phone };
}
