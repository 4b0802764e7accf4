import { schemaOf, type Slug } from '../../events/slugs.js';
import type { Config } from '../../runtime/config.js';

/** The internal client as which a process without services calls. */
export const OWN_CLIENT: Slug = 'platform';

/** Variable with the secret of an internal client `svc-<slug>`. */
export const clientSecretName = (slug: Slug): string => `INTERNAL_CLIENT_SECRET_${schemaOf(slug).toUpperCase()}`;

/**
 * Refuses a start for which a secret is missing; a development start on one machine has generated them before.
 * @param slugs the services of this process.
 * @throws Error naming every missing variable at once.
 */
export function requireSecrets(config: Config, slugs: readonly Slug[]): void {
  const missing = [
    ...(slugs.includes('identity') && !config.signingKek ? ['TOKEN_SIGNING_KEK'] : []),
    ...(slugs.includes('accounting') && !config.setting('LEDGER_SIGNING_KEY') ? ['LEDGER_SIGNING_KEY'] : []),
    ...(slugs.length && !config.encryptionKeys ? ['ENCRYPTION_KEYS'] : []),
    ...(slugs.includes('payments') && !config.setting('GIFT_PEPPER') ? ['GIFT_PEPPER'] : []),
    ...(slugs.length ? slugs : [OWN_CLIENT]).filter(slug => !config.internalSecrets[slug]).map(clientSecretName),
  ];
  if (missing.length === 0) return;
  const why = config.production ? 'production generates no secrets' : 'processes on several machines cannot share generated ones';
  throw new Error(`not set: ${missing.join(', ')}; ${why}, so every process must be given the same`);
}
