import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { dunningPolicy, type DunningPolicy } from '../rules/dunning.js';
import { taxRates, type TaxRates } from '../rules/tax.js';

/** Keys of platform's configuration, for all brands or for one: `{"retry_days": [1, 3, 7, 14], "final_day": 21, "final_action": "cancel"}`. */
const DUNNING_KEY = 'payments.dunning';
/** Parts of 10000 by region: `{"us-ca": 725, "de": 1900, "default": 0}`; none: no tax. */
const TAX_KEY = 'payments.tax_rates';
const ASK = stored(`query PaymentsBrandTerms($id: ID!, $prefix: String) {
  brands(first: 100) { nodes { id legalName } }
  effectiveConfig(brandId: $id, prefix: $prefix) { key value }
}`);

/** What the keys of our settings begin with. */
export const TERMS_PREFIX = 'payments.';

/** A setting of platform, as it holds for a brand. */
export interface ConfigEntry {
  key: string;
  value: unknown;
}

interface Answer {
  brands: { nodes: { id: string; legalName: string }[] };
  effectiveConfig: ConfigEntry[];
}

/** What a brand's invoices say and how they are collected. */
export interface BrandTerms {
  legalName: string;
  /** Null: as the contract says. */
  dunning: DunningPolicy | null;
  taxRates: TaxRates;
}

/** What a brand's settings say. */
export function termsFrom(
  { log }: Pick<ServiceHost, 'log'>,
  brand: { id: string; legalName: string },
  settings: readonly ConfigEntry[],
): BrandTerms {
  const valueOf = (key: string): unknown => settings.find(one => one.key === key)?.value;
  const schedule = valueOf(DUNNING_KEY);
  const dunning = schedule === undefined ? null : dunningPolicy(schedule);
  if (schedule !== undefined && dunning === null)
    log.warn({ brand: brand.id }, 'the dunning schedule of a brand is malformed; the usual one applies');
  return { legalName: brand.legalName, dunning, taxRates: taxRates(valueOf(TAX_KEY)) };
}

/** Asked of platform, so outside transactions. @throws Problem unavailable, and not_found for an unknown brand. */
export async function brandTerms(asker: Pick<ServiceHost, 'federation' | 'log'>, brandId: string): Promise<BrandTerms> {
  const { brands, effectiveConfig } = await asker.federation.run<Answer>(ASK, { id: brandId, prefix: TERMS_PREFIX });
  const brand = brands.nodes.find(one => one.id === brandId) ?? fail('not_found', 'There is no such brand');
  return termsFrom(asker, brand, effectiveConfig);
}
