import { body, input, path, query, type Route } from '../../route.js';

const BRAND = `id slug name legalName status isDefault defaultLocale locales defaultCurrency currencies countries timeZone
  domains { id host purpose status verifiedAt } theme { primaryColor accentColor logoUrl faviconUrl fontFamily }
  supportEmail supportUrl taxInclusivePrices legalVersion version`;

const DOMAIN = 'id host purpose status verificationRecord verifiedAt';

const domainOf = { input: input({ body: false, path: { id: 'brandId', domainId: 'id' } }) };

const statusRoute = (action: string, summary: string): Route => ({
  method: 'POST',
  path: `/v1/admin/brands/{id}/${action}`,
  status: [200],
  summary,
  document: `mutation ${action[0]!.toUpperCase()}${action.slice(1)}Brand($input: SetBrandStatusInput!) { result: setBrandStatus(input: $input) { ${BRAND} } }`,
  variables: { input: input({ body: false, path: ['id'], constant: { action: action.toUpperCase() } }) },
  problems: { 409: 'Not in a state for it, the default brand, or a host is verified' },
});

const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/brands',
    status: [200],
    summary: 'List brands',
    document: `query Brands($status: BrandStatus, $ids: [ID!], $first: Int, $after: String) {
      result: brands(status: $status, ids: $ids, first: $first, after: $after) { nodes { ${BRAND} } pageInfo { endCursor hasNextPage } }
    }`,
    variables: { status: query('status'), ids: query('ids') },
  },
  {
    method: 'GET',
    path: '/v1/brands/resolve',
    status: [200],
    summary: 'Find the brand of a host',
    document:
      'query ResolveBrand($host: String!) { result: brandByHost(host: $host) { slug name theme { primaryColor accentColor logoUrl faviconUrl fontFamily } locales } }',
    variables: { host: query('host') },
    problems: { 404: 'No active brand has verified this host', 429: 'More than 60 lookups a minute from this address' },
  },
  {
    method: 'GET',
    path: '/v1/brands/{slug}',
    status: [200],
    summary: 'Read a brand',
    document: `query Brand($slug: String!) { result: brand(slug: $slug) { ${BRAND} } }`,
    variables: { slug: path('slug') },
  },
  {
    method: 'POST',
    path: '/v1/admin/brands',
    status: [201],
    location: '/v1/brands/{slug}',
    summary: 'Create a brand',
    document: `mutation CreateBrand($input: CreateBrandInput!) { result: createBrand(input: $input) { ${BRAND} } }`,
    variables: { input: body() },
    example: {
      request: {
        slug: 'acme',
        name: 'Acme Health',
        legal_name: 'Acme Health Inc.',
        default_locale: 'en',
        locales: ['en', 'de'],
        default_currency: 'USD',
        currencies: ['USD', 'EUR'],
        countries: ['US', 'DE'],
        time_zone: 'America/New_York',
        support_email: 'help@acme.example',
        tax_inclusive_prices: false,
        theme: { primary_color: '#0B6E4F' },
      },
    },
    problems: { 409: 'The slug is taken' },
  },
  {
    method: 'PATCH',
    path: '/v1/admin/brands/{id}',
    status: [200],
    summary: 'Change a brand',
    document: `mutation UpdateBrand($input: UpdateBrandInput!) { result: updateBrand(input: $input) { ${BRAND} } }`,
    variables: { input: input({ path: ['id'] }) },
    example: { request: { expected_version: 1, name: 'Acme' } },
    problems: { 409: 'Changed meanwhile' },
  },
  statusRoute('suspend', 'Suspend a brand: reads stay, new carts, sign-ups and sessions are refused'),
  statusRoute('activate', 'End the suspension of a brand'),
  statusRoute('archive', 'Archive a suspended brand without verified hosts'),
  {
    method: 'POST',
    path: '/v1/admin/brands/{id}/domains',
    status: [201],
    location: '/v1/admin/brands/{brand_id}/domains/{id}',
    summary: 'Add a host to a brand; it counts once it is verified',
    document: `mutation AddBrandDomain($input: AddBrandDomainInput!) { result: addBrandDomain(input: $input) { brandId ${DOMAIN} } }`,
    variables: { input: input({ path: { id: 'brandId' } }) },
    example: { request: { host: 'shop.acme.example', purpose: 'shop' } },
    problems: { 409: 'The host is taken' },
  },
  {
    method: 'POST',
    path: '/v1/admin/brands/{id}/domains/{domainId}/verify',
    status: [200],
    summary: 'Look for the TXT record that proves a host',
    document: `mutation VerifyBrandDomain($input: BrandDomainInput!) { result: verifyBrandDomain(input: $input) { brandId ${DOMAIN} } }`,
    variables: domainOf,
    problems: { 409: 'Verified already' },
  },
  {
    method: 'DELETE',
    path: '/v1/admin/brands/{id}/domains/{domainId}',
    status: [204],
    summary: 'Remove a host from a brand',
    document: 'mutation RemoveBrandDomain($input: BrandDomainInput!) { result: removeBrandDomain(input: $input) { id } }',
    variables: domainOf,
  },
];

export default routes;
