import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildSchema, parse, validate, type OperationDefinitionNode } from 'graphql';

/** The part of Shopify's Admin API that we use, as its reference has it. https://shopify.dev/docs/api/admin-graphql/2026-01 */
const SCHEMA = buildSchema(`
scalar DateTime scalar Decimal scalar HTML scalar Money
enum CurrencyCode { USD JPY KWD } enum CountryCode { US } enum ProductStatus { ACTIVE ARCHIVED DRAFT } enum WeightUnit { GRAMS KILOGRAMS OUNCES POUNDS }
enum ProductSortKeys { ID } enum CustomerSortKeys { ID } enum OrderSortKeys { ID } enum OrderDisplayFinancialStatus { PAID PENDING }
interface Node { id: ID! }
type PageInfo { endCursor: String hasNextPage: Boolean! }
type UserError { field: [String!] message: String! }
type MoneyV2 { amount: Decimal! currencyCode: CurrencyCode! } type MoneyBag { shopMoney: MoneyV2! }
type Shop { currencyCode: CurrencyCode! }
type Weight { unit: WeightUnit! value: Float! } type InventoryItemMeasurement { weight: Weight }
type InventoryItem { id: ID! tracked: Boolean! requiresShipping: Boolean! measurement: InventoryItemMeasurement! }
type ProductVariant implements Node { id: ID! sku: String title: String! barcode: String price: Money! inventoryQuantity: Int inventoryItem: InventoryItem! }
type ProductVariantConnection { nodes: [ProductVariant!]! }
type Product implements Node { id: ID! handle: String! title: String! descriptionHtml: HTML! status: ProductStatus! tags: [String!]!
  variants(first: Int): ProductVariantConnection! }
type CustomerEmailAddress { emailAddress: String! }
type Customer implements Node { id: ID! tags: [String!]! defaultEmailAddress: CustomerEmailAddress }
type MailingAddress { name: String address1: String address2: String city: String provinceCode: String zip: String countryCodeV2: CountryCode phone: String }
type DiscountAllocation { allocatedAmountSet: MoneyBag! } type TaxLine { priceSet: MoneyBag! }
type LineItem { sku: String title: String! quantity: Int! originalUnitPriceSet: MoneyBag! discountAllocations: [DiscountAllocation!]! taxLines: [TaxLine!]! }
type LineItemConnection { nodes: [LineItem!]! }
type Order implements Node { id: ID! cancelledAt: DateTime taxesIncluded: Boolean! displayFinancialStatus: OrderDisplayFinancialStatus customer: Customer
  shippingAddress: MailingAddress lineItems(first: Int): LineItemConnection! totalShippingPriceSet: MoneyBag! totalTaxSet: MoneyBag totalPriceSet: MoneyBag! }
type ProductConnection { nodes: [Product!]! pageInfo: PageInfo! } type CustomerConnection { nodes: [Customer!]! pageInfo: PageInfo! }
type OrderConnection { nodes: [Order!]! pageInfo: PageInfo! }
type Query { shop: Shop! nodes(ids: [ID!]!): [Node]! customer(id: ID!): Customer productVariant(id: ID!): ProductVariant
  products(first: Int, after: String, query: String, sortKey: ProductSortKeys): ProductConnection!
  customers(first: Int, after: String, query: String, sortKey: CustomerSortKeys): CustomerConnection!
  orders(first: Int, after: String, query: String, sortKey: OrderSortKeys): OrderConnection! }
input CustomerSetIdentifiers { id: ID email: String phone: String } input CustomerSetInput { email: String firstName: String lastName: String }
type CustomerSetPayload { customer: Customer userErrors: [UserError!]! } type TagsPayload { userErrors: [UserError!]! }
type CustomerRequestDataErasurePayload { customerId: ID userErrors: [UserError!]! }
input InventoryQuantityInput { inventoryItemId: ID! locationId: ID! quantity: Int! }
input InventorySetQuantitiesInput { name: String! reason: String! ignoreCompareQuantity: Boolean quantities: [InventoryQuantityInput!]! }
type InventorySetQuantitiesPayload { userErrors: [UserError!]! }
type Mutation { customerSet(identifier: CustomerSetIdentifiers, input: CustomerSetInput!): CustomerSetPayload
  tagsAdd(id: ID!, tags: [String!]!): TagsPayload tagsRemove(id: ID!, tags: [String!]!): TagsPayload
  customerRequestDataErasure(customerId: ID!): CustomerRequestDataErasurePayload
  inventorySetQuantities(input: InventorySetQuantitiesInput!): InventorySetQuantitiesPayload }`);

/** A document that was asked, by its name. */
export interface Asked {
  name: string;
  variables: any;
}

export type Reply = { status?: number; headers?: Record<string, string>; body: object };

/** Shopify's Admin API at one token and version: refuses whatever its schema does not have, and answers what the test has laid ready. */
export class ShopifyDouble {
  readonly asked: Asked[] = [];
  /** Each answers one call. */
  readonly replies: Reply[] = [];

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async open(): Promise<ShopifyDouble> {
    const server = createServer();
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const double = new ShopifyDouble(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      let text = '';
      for await (const chunk of request) text += chunk;
      const path = `${request.method} ${request.url}`;
      const { status = 200, headers = {}, body } = double.#answer(path, request.headers['x-shopify-access-token'], text);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    };
    server.on('request', (request, response) => void answer(request, response));
    return double;
  }

  #answer(path: string, token: unknown, text: string): Reply {
    if (path !== 'POST /admin/api/2026-01/graphql.json') return { status: 404, body: {} };
    if (token !== 'shpat_test') return { status: 401, body: {} };
    const { query, variables } = JSON.parse(text) as { query: string; variables: object };
    const document = parse(query);
    const errors = validate(SCHEMA, document);
    if (errors.length > 0) return { body: { errors: errors.map(({ message }) => ({ message })) } };
    this.asked.push({ name: (document.definitions[0] as OperationDefinitionNode).name!.value, variables });
    return this.replies.shift() ?? { status: 500, body: {} };
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise(resolve => this.server.close(() => resolve()));
  }
}
