import { registerEnums } from './enums.js';

/** What a price is for. Declared once for payments, cash and affiliates, so that its values are the same everywhere. Source: payments 2, conventions 10. */
export enum PriceSubjectKind {
  MEMBERSHIP_PLAN = 'membership_plan',
  PRODUCT_VARIANT = 'product_variant',
  PROTOCOL = 'protocol',
  SERVICE = 'service',
}

registerEnums({ PriceSubjectKind }, { PriceSubjectKind: 'What a price is for.' });
