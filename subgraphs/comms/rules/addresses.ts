import { createHmac } from 'node:crypto';
import { CommsChannel } from '../entities/enums.js';

/** One spelling for one mailbox or number: suppressions are found by it. */
export const normalised = (channel: CommsChannel, address: string): string =>
  channel === CommsChannel.EMAIL ? address.trim().toLowerCase() : address.replace(/[^\d+]/g, '');

/** HMAC-SHA-256 of a normalised address, hex: the only form in which addresses are kept. Source: comms, rule 3. */
export const addressHash = (key: Buffer, channel: CommsChannel, address: string): string =>
  createHmac('sha256', key)
    .update(`${channel}:${normalised(channel, address)}`)
    .digest('hex');

/** `d•••@e•••.test`, `+1•••••42`: enough to recognise one's own. */
export function masked(channel: CommsChannel, address: string): string {
  if (channel === CommsChannel.SMS) return `${address.slice(0, 2)}•••••${address.slice(-2)}`;
  const [local = '', domain = ''] = address.split('@');
  const dot = domain.lastIndexOf('.');
  return `${local.slice(0, 1)}•••@${domain.slice(0, 1)}•••${dot > 0 ? domain.slice(dot) : ''}`;
}
