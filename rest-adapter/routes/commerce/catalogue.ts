import { del, get, patch, post, type Route } from '../../route.js';

const MONEY = '{ amount currency }';
const VARIANT = `id sku barcode title position optionValues price { amount ${MONEY} compareAt ${MONEY} taxInclusive } availability { status quantity }
  trackInventory backorder maxPerOrder weightGrams requiresShipping lotTracked components { variant { id sku } quantity }`;
export const PRODUCT = `id brandId slug status title subtitle descriptionHtml kind purchaseRequirement entitlementKey taxCategory categories tags
  options { name values } images { url alt width height position variantIds } variants { ${VARIANT} } priceRange { min ${MONEY} max ${MONEY} } available
  subscriptionOffers { cadence { unit count } discountBps } seo { title description } publishedAt createdAt updatedAt version`;
const LEVEL = 'id variant { id sku } locationId onHand allocated safetyStock updatedAt';
const LOT = 'id variant { id sku } locationId lotNumber expiresOn onHand allocated status createdAt version';
const MOVEMENT = 'id variantId locationId lotNumber kind quantity reference actor createdAt';
const REPORT = `recallId sku lotNumber status orders { orderId number user { id } shipped unshipped returned } totals { shipped unshipped returned }
  erasedBuyers movedToOtherLots cancelled noticesSent`;
const NOTICE = 'id variantId createdAt notifiedAt';
const ADDRESS = `id label recipient phone address { line1 line2 city region postalCode countryCode } isDefaultShipping isDefaultBilling validated createdAt
  updatedAt version`;
const BRAND =
  'id slug name status isDefault defaultLocale locales defaultCurrency currencies countries timeZone taxInclusivePrices version';

const aVariant = { sku: 'BAR-12', prices: [{ amount: { amount: 2_400, currency: 'USD' } }] };

const brands: Route[] = [
  get('/v1/brands', 'brands', BRAND, 'List storefronts', { as: 'commerceBrands' }),
  get('/v1/brands/{slug}', 'brand', BRAND, 'Read a storefront', { as: 'commerceBrand', query: {} }),
];

const addresses: Route[] = [
  get('/v1/addresses', 'userAddresses', ADDRESS, 'List the address book of a user', { as: 'commerceAddresses' }),
  post('/v1/addresses', 'addUserAddress', ADDRESS, 'Add an address', {
    as: 'addCommerceAddress',
    status: 201,
    problems: { 409: 'There are twenty already' },
    example: {
      request: {
        recipient: 'A Buyer',
        address: { line1: '1 Main Street', city: 'Springfield', region: 'CA', postal_code: '90001', country_code: 'US' },
      },
    },
  }),
  patch('/v1/addresses/{id}', 'updateUserAddress', ADDRESS, 'Change an address', { as: 'updateCommerceAddress' }),
  del('/v1/addresses/{id}', 'deleteUserAddress', 'id', 'Remove an address', { as: 'deleteCommerceAddress' }),
];

const products: Route[] = [
  get('/v1/products', 'products', PRODUCT, 'List what a brand sells'),
  get('/v1/products/{id}', 'product', PRODUCT, 'Read a product'),
  post('/v1/admin/products', 'createProduct', PRODUCT, 'Make a product', {
    status: 201,
    location: '/v1/products/{id}',
    problems: { 409: 'The slug or a sku is taken, or two prices would hold at once' },
    example: { request: { slug: 'bar', title: 'Bar', variants: [aVariant] } },
  }),
  patch('/v1/admin/products/{id}', 'updateProduct', PRODUCT, 'Change a product', {
    problems: { 409: 'It was changed meanwhile, or a sku is taken' },
    example: { request: { title: 'Bar', variants: [aVariant] } },
  }),
  post('/v1/admin/products/{id}/archive', 'archiveProduct', PRODUCT, 'Sell a product no more'),
  post('/v1/admin/variants/{variant_id}/prices', 'setVariantPrices', VARIANT, 'Set all prices of a variant', {
    problems: { 409: 'Two prices would hold at once' },
    example: { request: { prices: aVariant.prices } },
  }),
];

const stock: Route[] = [
  get('/v1/admin/inventory/levels', 'inventoryLevels', LEVEL, 'List stock by location'),
  get('/v1/admin/inventory/lots', 'inventoryLots', LOT, 'List lots'),
  get('/v1/admin/inventory/movements', 'stockMovements', MOVEMENT, 'List what has changed stock'),
  post('/v1/admin/inventory/lots', 'createInventoryLot', LOT, 'Receive a lot', {
    status: 201,
    location: '/v1/admin/inventory/lots',
    problems: { 409: 'The lot is there already, or the variant has no lots' },
    example: { request: { sku: 'BPC157-5', lot_number: 'L-77', expires_on: '2028-01-31', quantity: 10 } },
  }),
  post('/v1/admin/inventory/adjustments', 'adjustInventory', LEVEL, 'Change what is on hand', {
    problems: { 409: 'Less is there' },
    example: { request: { sku: 'STARTER', quantity: 5, reason: 'Count' } },
  }),
  post('/v1/admin/inventory/lots/{id}/quarantine', 'quarantineLot', LOT, 'Keep a lot from being sold, or release it', {
    problems: { 409: 'It is recalled, or was changed meanwhile' },
  }),
  get('/v1/admin/inventory/recall', 'lotRecall', REPORT, 'See where a lot went'),
  post('/v1/admin/inventory/recall', 'recallLot', REPORT, 'Recall a lot and warn its buyers', {
    example: { request: { sku: 'BPC157-5', lot_number: 'L-77', reason: 'Wrong label' } },
  }),
  get('/v1/stock-notices', 'stockNotices', NOTICE, 'List the own notices'),
  post('/v1/stock-notices', 'requestStockNotice', NOTICE, 'Ask to be told when a variant is there again', {
    problems: { 409: 'It is in stock, or fifty notices are open' },
  }),
  del('/v1/stock-notices/{id}', 'cancelStockNotice', 'id', 'Want no notice any more'),
];

export const catalogue: Route[] = [...brands, ...addresses, ...products, ...stock];
