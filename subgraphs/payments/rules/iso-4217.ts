/**
 * Currencies of ISO 4217 whose minor unit is not a hundredth, with their exponents; all others have two decimals.
 * Source: ISO 4217 list one, https://www.six-group.com/en/products-services/financial-information/data-standards.html
 */
const EXPONENTS: Readonly<Record<string, number>> = {
  BHD: 3,
  BIF: 0,
  CLF: 4,
  CLP: 0,
  DJF: 0,
  GNF: 0,
  IQD: 3,
  ISK: 0,
  JOD: 3,
  JPY: 0,
  KMF: 0,
  KRW: 0,
  KWD: 3,
  LYD: 3,
  OMR: 3,
  PYG: 0,
  RWF: 0,
  TND: 3,
  UGX: 0,
  UYI: 0,
  UYW: 4,
  VND: 0,
  VUV: 0,
  XAF: 0,
  XOF: 0,
  XPF: 0,
};

const DEFAULT_EXPONENT = 2;

/** Decimals of a currency's minor unit. @param currency three letters, upper case. */
export const exponentOf = (currency: string): number => EXPONENTS[currency] ?? DEFAULT_EXPONENT;
