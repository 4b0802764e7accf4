/**
 * The 28 services. A slug is the folder, the REST prefix, the host name, the PostgreSQL schema (with `_`) and the
 * name in the supergraph. Source: conventions 1.
 */
export const SLUGS = [
  'identity',
  'accounting',
  'payments',
  'comms',
  'analytics',
  'affiliates',
  'clinical',
  'commerce',
  'ai',
  'webhooks',
  'events',
  'patient-graph',
  'membership',
  'content',
  'jobs',
  'platform',
  'follows',
  'partner',
  'booking',
  'cash',
  'community',
  'entitlements',
  'integrations',
  'intelligence',
  'labs',
  'live',
  'messaging',
  'workflow',
] as const;

export type Slug = (typeof SLUGS)[number];

/** Services whose admin scope is not `admin:<slug>`. Source: conventions 1, identity A7. */
const ADMIN_SCOPE_NAMES: Partial<Record<Slug, string>> = {
  partner: 'capri',
  labs: 'clinical',
  messaging: 'comms',
  intelligence: 'ai',
  workflow: 'jobs',
  'patient-graph': 'patient_graph',
};

/** PostgreSQL schema of a service: the slug with `_` for `-`. */
export const schemaOf = (slug: Slug): string => slug.replaceAll('-', '_');

/** PostgreSQL role of a service: `platform_<schema>`. */
export const roleOf = (slug: Slug): string => `platform_${schemaOf(slug)}`;

/** The machine scope that gives full access to a service, for example `admin:clinical` for labs. */
export const adminScopeOf = (slug: Slug): string => `admin:${ADMIN_SCOPE_NAMES[slug] ?? slug}`;

export const isSlug = (value: string): value is Slug => (SLUGS as readonly string[]).includes(value);
