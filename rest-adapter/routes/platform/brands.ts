import { del, get, patch, post, type Route } from '../../route.js';

const BRAND = `id slug name legalName status isDefault defaultLocale locales defaultCurrency currencies countries timeZone
  domains { id host purpose status verifiedAt } theme { primaryColor accentColor logoUrl faviconUrl fontFamily } supportEmail supportUrl
  taxInclusivePrices legalVersion version`;
const DOMAIN = 'brandId id host purpose status verificationRecord verifiedAt';
const RESOLVED = 'slug name theme { primaryColor accentColor logoUrl faviconUrl fontFamily } locales';

const DOMAIN_PATH = { id: 'brandId', domainId: 'id' };

const setStatus = (action: string, summary: string): Route =>
  post(`/v1/admin/brands/{id}/${action}`, 'setBrandStatus', BRAND, summary, {
    as: `${action}Brand`,
    constant: { action: action.toUpperCase() },
    problems: { 409: 'Not in a state for it, the default brand, or a host is verified' },
  });

const routes: Route[] = [
  get('/v1/brands', 'brands', BRAND, 'List brands'),
  get('/v1/brands/resolve', 'brandByHost', RESOLVED, 'Find the brand of a host', {
    as: 'resolveBrand',
    problems: { 404: 'No active brand has verified this host', 429: 'More than 60 lookups a minute from this address' },
  }),
  get('/v1/brands/{slug}', 'brand', BRAND, 'Read a brand'),
  post('/v1/admin/brands', 'createBrand', BRAND, 'Create a brand', {
    status: 201,
    location: '/v1/brands/{slug}',
    problems: { 409: 'The slug is taken' },
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
  }),
  patch('/v1/admin/brands/{id}', 'updateBrand', BRAND, 'Change a brand', {
    problems: { 409: 'Changed meanwhile' },
    example: { request: { expected_version: 1, name: 'Acme' } },
  }),
  setStatus('suspend', 'Suspend a brand: reads stay, new carts, sign-ups and sessions are refused'),
  setStatus('activate', 'End the suspension of a brand'),
  setStatus('archive', 'Archive a suspended brand without verified hosts'),
  post('/v1/admin/brands/{id}/domains', 'addBrandDomain', DOMAIN, 'Add a host to a brand; it counts once it is verified', {
    path: { id: 'brandId' },
    status: 201,
    location: '/v1/admin/brands/{brand_id}/domains/{id}',
    problems: { 409: 'The host is taken' },
    example: { request: { host: 'shop.acme.example', purpose: 'shop' } },
  }),
  post('/v1/admin/brands/{id}/domains/{domainId}/verify', 'verifyBrandDomain', DOMAIN, 'Look for the TXT record that proves a host', {
    path: DOMAIN_PATH,
    problems: { 409: 'Verified already' },
  }),
  del('/v1/admin/brands/{id}/domains/{domainId}', 'removeBrandDomain', 'id', 'Remove a host from a brand', { path: DOMAIN_PATH }),
];

export default routes;
