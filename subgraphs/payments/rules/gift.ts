import type { TransitionTable } from '../../../runtime/request/states.js';
import { GiftStatus } from '../entities/enums-offers.js';

export type GiftTrigger = 'pay' | 'deliver' | 'redeem' | 'refund' | 'expire';

/**
 * Source: payments 3.7. A gift may be redeemed before its delivery, because its purchaser reads the code and may hand it over in person;
 * a redeemed one has no refund through the API.
 */
export const GIFT_STATES: TransitionTable<GiftStatus, GiftTrigger> = {
  pending_payment: { pay: GiftStatus.PURCHASED, expire: GiftStatus.EXPIRED },
  purchased: { deliver: GiftStatus.DELIVERED, redeem: GiftStatus.REDEEMED, refund: GiftStatus.REFUNDED, expire: GiftStatus.EXPIRED },
  delivered: { redeem: GiftStatus.REDEEMED, refund: GiftStatus.REFUNDED, expire: GiftStatus.EXPIRED },
  redeemed: {},
  expired: {},
  refunded: {},
};

/** Whether the code is worth something. */
export const isRedeemable = (status: GiftStatus): boolean => status === GiftStatus.PURCHASED || status === GiftStatus.DELIVERED;

/** Both kinds are good for five years. Source: payments 2. */
const YEARS = 5;

/** Five years after the payment, UTC; of February 29 the last day of February. */
export function giftExpiry(paidAt: Date): Date {
  const expiry = new Date(paidAt);
  expiry.setUTCFullYear(paidAt.getUTCFullYear() + YEARS);
  if (expiry.getUTCDate() !== paidAt.getUTCDate()) expiry.setUTCDate(0);
  return expiry;
}

/** Crockford base32: no I, L, O and U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CODE_LENGTH = 20;
/** 100 bits are needed. */
export const GIFT_CODE_BYTES = 13;

/** A code of 20 characters, from random bytes. */
export function giftCodeOf(random: Uint8Array): string {
  let bits = random.subarray(0, GIFT_CODE_BYTES).reduce((all, byte) => (all << 8n) | BigInt(byte), 0n);
  let code = '';
  for (let index = 0; index < CODE_LENGTH; index++, bits >>= 5n) code += ALPHABET[Number(bits & 31n)];
  return code;
}

/** As people read it: `7K3QM-9D2FX-...`. */
export const groupedCode = (code: string): string => code.match(/.{5}/g)!.join('-');

/** A typed code without case, dashes and spaces, and with what Crockford reads as a digit; null for what no code can be. */
export function normalizedGiftCode(typed: string): string | null {
  const code = typed.replace(/[\s-]/g, '').toUpperCase().replace(/O/g, '0').replace(/[IL]/g, '1');
  return code.length === CODE_LENGTH && [...code].every(character => ALPHABET.includes(character)) ? code : null;
}
