/** Subgraphs that use every feature of federation which the platform's gateway has to know. Composed by the tests that use them. */
const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable", "@external", "@requires", "@provides", "@inaccessible", "@override", "@interfaceObject"])';

const catalog = `
  type Query {
    product(id: ID!): Product
    products(first: Int = 2, where: Where): [Product!]
    search(term: String, kinds: [Kind!] = [PRODUCT, BOOK]): [SearchResult]
    media(id: ID!): Media
    shelf(size: Int): [Media]
    matrix: [[Product!]!]
    node(id: ID!): Node
    nodes(ids: [ID!]!): [Node]!
    item(id: ID): Item
    brand(code: String!): Brand
  }
  type Mutation { rename(id: ID!, name: String!): Product  touch(id: ID!): Node }
  input Where { kind: Kind, near: Near, tags: [String!] = ["new"] }
  input Near { x: Float!, y: Float }
  enum Kind { PRODUCT BOOK MOVIE }
  enum Currency { USD EUR }
  enum Color { RED GREEN }
  enum Finish { MATT GLOSS SECRET @inaccessible }
  scalar JSON
  interface Node { id: ID! }
  union SearchResult = Product | Book | Movie | Brand
  union Item = Product | Brand
  type Product implements Node @key(fields: "id") @key(fields: "sku") {
    id: ID! sku: String! name: String! @shareable price(currency: Currency = USD): Int weight: Float @shareable dims: Dims! color: Color finish: Finish
    related(first: Int): [Product] category: Category! maker: Brand grid: [[Int!]]! boxes: [[Dims]] hidden: String @inaccessible legacy: String meta: JSON owner: User
  }
  type Dims @shareable { height: Int width: Float unit: String! depth(unit: String = "cm"): Float }
  type Category @key(fields: "path { root leaf }") { path: Path! title: String products: [Product!]! }
  type Path @shareable { root: String! leaf: String! }
  type Brand implements Node @key(fields: "id region { code }") { id: ID! region: Region! label: String! parent: Brand }
  type Region @shareable { code: String! }
  interface Media @key(fields: "id") { id: ID! title: String! related: [Media] }
  type Book implements Media & Node @key(fields: "id") { id: ID! title: String! related: [Media] pages: Int author: User }
  type Movie implements Media & Node @key(fields: "id") { id: ID! title: String! related: [Media] minutes: Float! director: User! }
  type User @key(fields: "id") { id: ID! }
`;

const inventory = `
  type Query { stock(ids: [ID!]): [Stock] heaviest: Product }
  enum Color { RED BLUE }
  type Product @key(fields: "id") {
    id: ID! price(currency: Currency = USD): Int @external weight: Float @shareable dims: Dims! @external
    stock: Stock @shareable legacy: String @override(from: "catalog")
    shipping: Int @requires(fields: "price(currency: EUR)")
    volume: String @requires(fields: "dims { height width }")
    tint: Color!
  }
  enum Currency { USD EUR }
  type Dims @shareable { height: Int width: Float }
  type Stock @shareable { count: Int! places: [Place!] levels: [[Place]!] }
  type Place @shareable { code: String! shelf: Int }
  union Item = Product | Crate
  type Crate @key(fields: "id") { id: ID! content: [Product] place: Place }
  extend type Query { crates: [Item] }
`;

const reviews = `
  type Query { reviews(first: Int): [Review!]! topMedia: Media bestOf(kind: Kind): [Review] }
  enum Kind { PRODUCT BOOK MOVIE }
  type Product @key(fields: "sku") { sku: String! name: String! @external reviews(first: Int = 1, minStars: Int): [Review!]! score: Float stock: Stock @shareable }
  type Stock @shareable { count: Int! places: [Place!] }
  type Place @shareable { code: String! shelf: Int }
  type Media @key(fields: "id") @interfaceObject { id: ID! reviews: [Review] rating: Int! }
  type Review @key(fields: "id") { id: ID! stars: Int text: String! product: Product @provides(fields: "name") author: User! about: Media verdict: Verdict }
  type User @key(fields: "id") { id: ID! reviews: [Review] }
  union Verdict = Praise | Blame
  type Praise { words: [String!]! by: User }
  type Blame { words: [String] severity: Int! about: Product }
`;

const accounts = `
  type Query { me: User user(id: ID!): User everyone: [User!]! }
  interface Person { name: String! friends(first: Int): [Person] }
  type User implements Person @key(fields: "id") @key(fields: "email") {
    id: ID! email: String! name: String! friends(first: Int): [Person] favourite: Product address: Address tags: [String!] age(at: String): Int manager: User!
  }
  type Guest implements Person { name: String! friends(first: Int): [Person] ticket: ID }
  type Address { city: String! lines: [String] geo: Geo! }
  type Geo @shareable { x: Float y: Float }
  type Product @key(fields: "id") { id: ID! fans: [User!] }
  type Brand @key(fields: "id region { code }") { id: ID! region: Region! employees: [User] greeting: String! @requires(fields: "label") label: String! @external }
  type Region @shareable { code: String! }
  type Category @key(fields: "path { root leaf }") { path: Path! followers: [User] }
  type Path @shareable { root: String! leaf: String! }
`;

/** SDL by service name. */
export const SUBGRAPHS: Readonly<Record<string, string>> = {
  catalog: LINK + catalog,
  inventory: LINK + inventory,
  reviews: LINK + reviews,
  accounts: LINK + accounts,
};
