/** Version of the Admin API whose shapes are below. https://shopify.dev/docs/api/admin-graphql */
export const SHOPIFY_VERSION = '2026-01';

const PAGE = 'pageInfo { endCursor hasNextPage }';

const PRODUCT = `id handle title descriptionHtml status tags variants(first: 100) { nodes { id sku title barcode price inventoryQuantity
  inventoryItem { tracked requiresShipping measurement { weight { unit value } } } } }`;
const CUSTOMER = 'id defaultEmailAddress { emailAddress }';
const MONEY = 'shopMoney { amount currencyCode }';
const ORDER = `id cancelledAt taxesIncluded displayFinancialStatus customer { ${CUSTOMER} }
  shippingAddress { name address1 address2 city provinceCode zip countryCodeV2 phone }
  lineItems(first: 100) { nodes { sku title quantity originalUnitPriceSet { ${MONEY} } discountAllocations { allocatedAmountSet { ${MONEY} } }
    taxLines { priceSet { ${MONEY} } } } }
  totalShippingPriceSet { ${MONEY} } totalTaxSet { ${MONEY} } totalPriceSet { ${MONEY} }`;

const list = (name: string, type: string, root: string, fields: string, more = ''): string =>
  `query ${name}($after: String, $query: String) { ${more} ${root}(first: 50, after: $after, query: $query, sortKey: ID) { nodes { ...Fields } ${PAGE} } }
fragment Fields on ${type} { ${fields} }`;

const named = (name: string, type: string, fields: string, more = ''): string =>
  `query ${name}($ids: [ID!]!) { ${more} nodes(ids: $ids) { ...Fields } } fragment Fields on ${type} { ${fields} }`;

const SHOP = 'shop { currencyCode }';

export const LIST_PRODUCTS = list('Products', 'Product', 'products', PRODUCT, SHOP);
export const LIST_CUSTOMERS = list('Customers', 'Customer', 'customers', CUSTOMER);
export const LIST_ORDERS = list('Orders', 'Order', 'orders', ORDER);
export const READ_PRODUCTS = named('ProductsByIds', 'Product', PRODUCT, SHOP);
export const READ_CUSTOMERS = named('CustomersByIds', 'Customer', CUSTOMER);
export const READ_ORDERS = named('OrdersByIds', 'Order', ORDER);

/** An upsert: by id, or by address, so that a repeat makes nobody twice. */
export const SET_CUSTOMER = `mutation SetCustomer($identifier: CustomerSetIdentifiers!, $input: CustomerSetInput!) {
  customerSet(identifier: $identifier, input: $input) { customer { id } userErrors { field message } } }`;
export const READ_TAGS = 'query CustomerTags($id: ID!) { customer(id: $id) { tags } }';
export const ADD_TAGS = 'mutation AddTags($id: ID!, $tags: [String!]!) { tagsAdd(id: $id, tags: $tags) { userErrors { field message } } }';
export const REMOVE_TAGS =
  'mutation RemoveTags($id: ID!, $tags: [String!]!) { tagsRemove(id: $id, tags: $tags) { userErrors { field message } } }';
export const ERASE_CUSTOMER = `mutation EraseCustomer($id: ID!) { customerRequestDataErasure(customerId: $id) { customerId userErrors { field message } } }`;
export const READ_VARIANT = 'query InventoryItem($id: ID!) { productVariant(id: $id) { inventoryItem { id } } }';
export const SET_STOCK = `mutation SetStock($input: InventorySetQuantitiesInput!) {
  inventorySetQuantities(input: $input) { userErrors { field message } } }`;
