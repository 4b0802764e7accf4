import { exponentOf } from './iso-4217.js';

/** Minor units as people read them: `-1,234.50 USD`, `980 JPY`. */
export function amountText(minor: number, currency: string): string {
  const exponent = exponentOf(currency);
  const digits = String(Math.abs(minor)).padStart(exponent + 1, '0');
  const [whole, fraction] = [digits.slice(0, digits.length - exponent), digits.slice(digits.length - exponent)];
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return `${minor < 0 ? '-' : ''}${grouped}${fraction && `.${fraction}`} ${currency}`;
}
