import type { Suite } from './suite.js';

const byId =
  <One extends { id: string }>(all: readonly One[]) =>
  ({ id }: { id: string }): One | null =>
    all.find(one => one.id === id) ?? null;

const POSTS = [{ id: 'p1' }, { id: 'p2' }];
const COMMENTS = [
  { id: 'c1', post: 'p1', authorId: 'a2', body: 'one' },
  { id: 'c2', post: 'p1', authorId: 'a2', body: 'two' },
  { id: 'c3', post: 'p1', authorId: 'a2', body: 'three' },
  { id: 'c4', post: 'p2', authorId: 'a1', body: 'four' },
  { id: 'c5', post: 'p2', authorId: 'a1', body: 'five' },
  { id: 'c6', post: 'p2', authorId: 'a1', body: 'six' },
];
const commentsOf = ({ id }: { id: string }, { limit }: { limit: number }) => COMMENTS.filter(one => one.post === id).slice(0, limit);

const REQUIRES_ARGUMENT: Suite = {
  name: '@requires of a list with an argument, which the client asks with another one',
  subgraphs: {
    comments: {
      sdl: `
        type Query { feed: [Post] }
        type Post @key(fields: "id") { id: ID! }
        type Comment @key(fields: "id") { id: ID! authorId: ID body: String! }`,
      resolvers: { Query: { feed: () => POSTS }, Comment: { __resolveReference: byId(COMMENTS) } },
    },
    posts: {
      sdl: `
        type Post @key(fields: "id") { id: ID! author: Author @requires(fields: "comments(limit: 3) { authorId }") comments(limit: Int!): [Comment] }
        type Comment @key(fields: "id") { id: ID! authorId: ID @external others: [Post] }
        type Author { id: ID! }`,
      resolvers: {
        Comment: { __resolveReference: byId(COMMENTS), others: ({ post }: any) => POSTS.filter(({ id }) => id !== post) },
        Post: {
          __resolveReference: (one: object) => one,
          comments: commentsOf,
          author: ({ comments }: any) => {
            if (comments.length !== 3) throw new Error('three comments are required');
            return { id: comments[2].authorId };
          },
        },
      },
    },
  },
  queries: [
    { query: '{ feed { author { id } } }', data: { feed: [{ author: { id: 'a2' } }, { author: { id: 'a1' } }] } },
    {
      query: '{ feed { author { id } comments(limit: 1) { id } } }',
      data: {
        feed: [
          { author: { id: 'a2' }, comments: [{ id: 'c1' }] },
          { author: { id: 'a1' }, comments: [{ id: 'c4' }] },
        ],
      },
    },
    {
      query:
        'query ($limit: Int = 1) { feed { author { id } ...A ...B } } fragment A on Post { comments(limit: $limit) { id } } fragment B on Post { comments(limit: $limit) { body } }',
      data: {
        feed: [
          { author: { id: 'a2' }, comments: [{ id: 'c1', body: 'one' }] },
          { author: { id: 'a1' }, comments: [{ id: 'c4', body: 'four' }] },
        ],
      },
    },
  ],
};

/** The planner merges the fetch of the comments' authors into the one of the feed, on a way that the subgraph does not resolve. */
const EXTERNAL_ON_THE_WAY: Suite = {
  name: 'a plan that asks a subgraph for a field which it declares as external',
  subgraphs: {
    ...REQUIRES_ARGUMENT.subgraphs,
    comments: {
      sdl: `
        type Query { feed: [Post] }
        type Post @key(fields: "id") { id: ID! comments(limit: Int!): [Comment] @external }
        type Comment @key(fields: "id") {
          id: ID! authorId: ID body: String!
          others: [Post] @external
          isSpam: Boolean @requires(fields: "others { comments(limit: 2) { id } }")
        }`,
      resolvers: {
        Query: { feed: () => POSTS },
        Comment: {
          __resolveReference: ({ id, others }: any) => ({ ...COMMENTS.find(one => one.id === id), others }),
          isSpam: ({ others }: any) => others.every(({ comments }: any) => comments.length === 2),
        },
      },
    },
  },
  queries: [
    { query: '{ feed { author { id } } }', data: null, refused: /comments does not resolve Post.comments/ },
    {
      query: '{ feed { comments(limit: 1) { isSpam } } }',
      data: { feed: [{ comments: [{ isSpam: true }] }, { comments: [{ isSpam: true }] }] },
    },
  ],
};

const BOOKS = [
  { upc: 'b1', id: '1', author: { name: 'Alice' } },
  { upc: 'b2', id: '2', author: { name: 'Bob' } },
  { upc: 'b3', id: null, author: null },
];
const NULL_KEYS: Suite = {
  name: 'a key that is null for one entity',
  subgraphs: {
    a: { sdl: 'type Query { books: [Book] } type Book @key(fields: "upc") { upc: ID! }', resolvers: { Query: { books: () => BOOKS } } },
    b: {
      sdl: 'type Book @key(fields: "id") @key(fields: "upc") { id: ID upc: ID! }',
      resolvers: { Book: { __resolveReference: ({ upc }: any) => BOOKS.find(one => one.upc === upc) } },
    },
    c: {
      sdl: 'type Book @key(fields: "id") { id: ID author: Author } type Author { name: String }',
      resolvers: { Book: { __resolveReference: ({ id }: any) => (id === null ? null : BOOKS.find(one => one.id === id)) } },
    },
  },
  queries: [
    {
      query: '{ books { upc author { name } } }',
      data: {
        books: [
          { upc: 'b1', author: { name: 'Alice' } },
          { upc: 'b2', author: { name: 'Bob' } },
          { upc: 'b3', author: null },
        ],
      },
    },
  ],
};

const CIRCLE = [
  { id: 'p1', years: 3 },
  { id: 'p2', years: 20 },
];
const REQUIRES_CIRCLE: Suite = {
  name: '@requires to and fro between two subgraphs',
  subgraphs: {
    a: {
      sdl: `
        type Query { feed: [Post] }
        type Post @key(fields: "id") { id: ID! byNovice: Boolean! @external byExpert: Boolean! @requires(fields: "byNovice") }
        type Author @key(fields: "id") { id: ID! years: Int! }`,
      resolvers: {
        Query: { feed: () => CIRCLE.map(({ id }) => ({ id })) },
        Post: { __resolveReference: (one: object) => one, byExpert: ({ byNovice }: any) => (byNovice === undefined ? null : !byNovice) },
        Author: { __resolveReference: byId(CIRCLE) },
      },
    },
    b: {
      sdl: `
        type Post @key(fields: "id") { id: ID! author: Author! byNovice: Boolean! @requires(fields: "author { years }") }
        type Author @key(fields: "id") { id: ID! years: Int! @external }`,
      resolvers: {
        Post: {
          __resolveReference: (one: object) => one,
          author: ({ id }: any) => ({ id }),
          byNovice: ({ author }: any) => (author?.years === undefined ? null : author.years < 10),
        },
      },
    },
  },
  queries: [
    { query: '{ feed { byNovice } }', data: { feed: [{ byNovice: true }, { byNovice: false }] } },
    { query: '{ feed { byExpert } }', data: { feed: [{ byExpert: false }, { byExpert: true }] } },
    {
      query: '{ feed { id byExpert author { id } } }',
      data: {
        feed: [
          { id: 'p1', byExpert: false, author: { id: 'p1' } },
          { id: 'p2', byExpert: true, author: { id: 'p2' } },
        ],
      },
    },
  ],
};

const MEDIA = { id: '1', title: 'title 1', duration: 100, wordCount: 900 };
const INDIRECT_EXTENSION: Suite = {
  name: 'an object type of an interface object is extended in a third subgraph',
  subgraphs: {
    media: {
      sdl: `
        type Query { media: Media }
        interface Media @key(fields: "id") { id: ID! title: String }
        type Video implements Media @key(fields: "id") { id: ID! title: String duration: Int }
        type Article implements Media @key(fields: "id") { id: ID! title: String wordCount: Int }`,
      resolvers: {
        Query: { media: () => MEDIA },
        Media: { __resolveType: () => 'Video', __resolveReference: () => MEDIA },
        Video: { __resolveReference: () => MEDIA },
        Article: { __resolveReference: () => MEDIA },
      },
    },
    authors: {
      sdl: 'type Query { author: Author } type Author @key(fields: "id") { id: ID! name: String } type Video @key(fields: "id") { id: ID! authorName: String }',
      resolvers: {
        Query: { author: () => ({ id: '1', name: 'name 1' }) },
        Video: { __resolveReference: (one: object) => one, authorName: () => 'John' },
      },
    },
    playlists: {
      sdl: 'type Query { playlist: Playlist } type Playlist @key(fields: "id") { id: ID! media: Media } type Media @key(fields: "id") @interfaceObject { id: ID! }',
      resolvers: { Query: { playlist: () => ({ id: '1', media: { id: '1' } }) }, Media: { __resolveReference: (one: object) => one } },
    },
  },
  queries: [
    {
      query:
        '{ media { id title ... on Video { duration authorName } ... on Article { wordCount } } author { id name } playlist { id media { id ... on Video { duration } } } }',
      data: {
        media: { id: '1', title: 'title 1', duration: 100, authorName: 'John' },
        author: { id: '1', name: 'name 1' },
        playlist: { id: '1', media: { id: '1', duration: 100 } },
      },
    },
    {
      query: '{ playlist { media { __typename title ... on Video { authorName } } } }',
      data: { playlist: { media: { __typename: 'Video', title: 'title 1', authorName: 'John' } } },
    },
  ],
};

const USERS = [
  { id: 'u1', type: 'REGULAR' },
  { id: 'u2', type: 'ANONYMOUS' },
];
const ENUMS: Suite = {
  name: 'an enum of which the subgraphs know different values',
  subgraphs: {
    a: {
      sdl: 'type Query { users: [User] } type User @key(fields: "id") { id: ID! type: UserType @shareable } enum UserType { ANONYMOUS @inaccessible REGULAR }',
      resolvers: { Query: { users: () => USERS }, User: { __resolveReference: byId(USERS) } },
    },
    b: {
      sdl: 'type Query { usersByType(type: UserType!): [User] } type User @key(fields: "id") { id: ID! type: UserType @shareable } enum UserType { REGULAR }',
      resolvers: {
        Query: { usersByType: (_: unknown, { type }: any) => USERS.filter(one => one.type === type) },
        User: { __resolveReference: byId(USERS) },
      },
    },
  },
  queries: [
    { query: '{ users { id } }', data: { users: [{ id: 'u1' }, { id: 'u2' }] } },
    {
      query: '{ users { id type } }',
      data: {
        users: [
          { id: 'u1', type: 'REGULAR' },
          { id: 'u2', type: null },
        ],
      },
    },
    { query: '{ usersByType(type: REGULAR) { id type } }', data: { usersByType: [{ id: 'u1', type: 'REGULAR' }] } },
    { query: 'query ($type: UserType!) { usersByType(type: $type) { id } }', variables: { type: 'ANONYMOUS' }, data: null, errors: true },
  ],
};

const FEDERATION_1: Suite = {
  name: 'extended types of Federation 1 with external keys',
  subgraphs: {
    a: {
      sdl: '# Federation 1\n type Query { product: Product } type Product @key(fields: "id name") { id: ID name: String pid: ID }',
      resolvers: { Query: { product: () => ({ id: 'p1', name: 'n1', pid: 'pid1' }) } },
    },
    b: {
      sdl: '# Federation 1\n type Query { inB: Product } extend type Product @key(fields: "id name") @key(fields: "upc") { id: ID @external name: String @external upc: String @external price: Float! }',
      resolvers: {
        Query: { inB: () => ({ id: 'p1', name: 'n1', upc: 'u1', price: 12.5 }) },
        Product: {
          __resolveReference: ({ id, name, upc }: any) => ((id && name) || upc ? { id: 'p1', name: 'n1', upc: 'u1', price: 12.5 } : null),
        },
      },
    },
  },
  queries: [
    { query: '{ product { id pid price upc name } }', data: { product: { id: 'p1', pid: 'pid1', price: 12.5, upc: 'u1', name: 'n1' } } },
    { query: '{ inB { id name price upc } }', data: { inB: { id: 'p1', name: 'n1', price: 12.5, upc: 'u1' } } },
  ],
};

const SKIPPED = { id: 'p1', price: 699 };
const CONDITIONS: Suite = {
  name: '@skip and @include on fields that others require',
  subgraphs: {
    a: {
      sdl: 'type Query { product: Product } type Product @key(fields: "id") { id: ID! price: Float! }',
      resolvers: { Query: { product: () => SKIPPED }, Product: { __resolveReference: () => SKIPPED } },
    },
    b: {
      sdl: 'type Product @key(fields: "id") { id: ID! price: Float! @external isExpensive: Boolean! @requires(fields: "price") }',
      resolvers: {
        Product: { __resolveReference: (one: object) => one, isExpensive: ({ price }: any) => (price === undefined ? null : price > 500) },
      },
    },
    c: {
      sdl: 'type Product @key(fields: "id") { id: ID! isExpensive: Boolean! @external include: Boolean! @requires(fields: "isExpensive") skip: Boolean! @requires(fields: "isExpensive") }',
      resolvers: {
        Product: {
          __resolveReference: (one: object) => one,
          include: ({ isExpensive }: any) => isExpensive,
          skip: ({ isExpensive }: any) => isExpensive,
        },
      },
    },
  },
  queries: [
    { query: 'query ($on: Boolean = false) { product { price include @include(if: $on) } }', data: { product: { price: 699 } } },
    { query: 'query ($on: Boolean = true) { product { price skip @skip(if: $on) } }', data: { product: { price: 699 } } },
    {
      query: 'query ($on: Boolean!) { product { price include @include(if: $on) } }',
      variables: { on: true },
      data: { product: { price: 699, include: true } },
    },
    {
      query: 'query ($on: Boolean!) { product { ...P @include(if: $on) } } fragment P on Product { skip }',
      variables: { on: true },
      data: { product: { skip: true } },
    },
    { query: 'query ($on: Boolean!) { product @include(if: $on) { skip } }', variables: { on: false }, data: {} },
    {
      query: 'query ($on: Boolean!) { product { price @include(if: $on) isExpensive } }',
      variables: { on: false },
      data: { product: { isExpensive: true } },
    },
  ],
};

const COUNTER = { value: 0, deleted: 0 };
const MUTATIONS: Suite = {
  name: 'mutations run one after the other, in the order of the document',
  subgraphs: {
    a: {
      sdl: `
        type Query { product(id: ID!): Product! }
        type Mutation { addProduct: Product! multiply(by: Int!): Int! @shareable start: Int! }
        type Product @key(fields: "id") { id: ID! price: Float! }`,
      resolvers: {
        Query: { product: (_: unknown, { id }: any) => ({ id, price: 599 }) },
        Mutation: {
          addProduct: () => ({ id: 'new', price: 599 }),
          multiply: (_: unknown, { by }: any) => (COUNTER.value *= by),
          start: () => (COUNTER.value = 5),
        },
        Product: { __resolveReference: ({ id }: any) => ({ id, price: 599 }) },
      },
    },
    b: {
      sdl: 'type Mutation { add(number: Int!): Int! } type Product @key(fields: "id") { id: ID! price: Float! @external isExpensive: Boolean! @requires(fields: "price") isAvailable: Boolean! }',
      resolvers: {
        Mutation: { add: (_: unknown, { number }: any) => (COUNTER.value += number) },
        Product: { __resolveReference: (one: object) => one, isExpensive: ({ price }: any) => price > 500, isAvailable: () => true },
      },
    },
  },
  queries: [
    {
      query: 'mutation { addProduct { id price isExpensive isAvailable } }',
      data: { addProduct: { id: 'new', price: 599, isExpensive: true, isAvailable: true } },
    },
    {
      query: 'mutation { five: start ten: multiply(by: 2) twelve: add(number: 2) final: multiply(by: 10) }',
      data: { five: 5, ten: 10, twelve: 12, final: 120 },
    },
    { query: 'mutation { start add(number: 1) multiply(by: 3) }', data: { start: 5, add: 6, multiply: 18 } },
  ],
};

const CATEGORY = { id: 'c1', name: 'category' };
const SHARED_ROOT: Suite = {
  name: 'a root field that several subgraphs share, each with a part of its type',
  subgraphs: Object.fromEntries(
    (['category', 'name', 'price'] as const).map(part => {
      const fields = { category: 'category: Category', name: 'name: Name', price: 'price: Price' }[part];
      const types = {
        category: 'type Category { id: ID! name: String! }',
        name: 'type Name { brand: String model: String }',
        price: 'type Price { amount: Int! currency: String! }',
      }[part];
      const value = { category: CATEGORY, name: { brand: 'b', model: 'm' }, price: { amount: 1000, currency: 'USD' } }[part];
      return [
        part,
        {
          sdl: `type Query { product: Product @shareable products: [Product] @shareable } type Product @shareable { id: ID! ${fields} } ${types}`,
          resolvers: { Query: { product: () => ({ id: '1', [part]: value }), products: () => [{ id: '1', [part]: value }] } },
        },
      ];
    }),
  ),
  queries: [
    {
      query: '{ product { id name { brand } price { amount } category { name } } }',
      data: { product: { id: '1', name: { brand: 'b' }, price: { amount: 1000 }, category: { name: 'category' } } },
    },
    {
      query: '{ products { id price { currency } name { model } } }',
      data: { products: [{ id: '1', price: { currency: 'USD' }, name: { model: 'm' } }] },
    },
  ],
};

const OVENS = [{ id: 'oven1', warranty: 1 }];
const TOASTERS = [
  { id: 'toaster1', warranty: 3 },
  { id: 'toaster2', warranty: 4 },
];
const kindOf = ({ id }: { id: string }): string => (id.startsWith('oven') ? 'Oven' : 'Toaster');
const DISTRIBUTED: Suite = {
  name: 'unions and interfaces of which each subgraph knows some types',
  subgraphs: {
    a: {
      sdl: `
        union Product = Oven | Toaster
        interface Node { id: ID! }
        type Oven @key(fields: "id") { id: ID! }
        type Toaster implements Node @key(fields: "id") { id: ID! warranty: Int @shareable }
        type Query { products: [Product] node(id: ID!): Node nodes: [Node] toasters: [Toaster] }`,
      resolvers: {
        Query: {
          products: () => [...OVENS, ...TOASTERS],
          node: (_: unknown, { id }: any) => [...OVENS, ...TOASTERS].find(one => one.id === id),
          nodes: () => TOASTERS,
          toasters: () => TOASTERS,
        },
        Product: { __resolveType: kindOf },
        Node: { __resolveType: kindOf },
        Oven: { __resolveReference: byId(OVENS) },
        Toaster: { __resolveReference: byId(TOASTERS) },
      },
    },
    b: {
      sdl: `
        interface Node { id: ID! }
        interface WithWarranty { warranty: Int }
        type Oven implements Node & WithWarranty @key(fields: "id") { id: ID! warranty: Int }
        type Toaster implements Node & WithWarranty @key(fields: "id") { id: ID! warranty: Int @shareable }`,
      resolvers: { Oven: { __resolveReference: byId(OVENS) }, Toaster: { __resolveReference: byId(TOASTERS) } },
    },
  },
  queries: [
    { query: '{ products { ... on Node { id } } }', data: { products: [{ id: 'oven1' }, { id: 'toaster1' }, { id: 'toaster2' }] } },
    { query: '{ nodes { ... on Toaster { warranty } ... on Oven { id } } }', data: { nodes: [{ warranty: 3 }, { warranty: 4 }] } },
    {
      query: '{ nodes { ... on Node { id ... on Toaster { warranty } } } }',
      data: {
        nodes: [
          { id: 'toaster1', warranty: 3 },
          { id: 'toaster2', warranty: 4 },
        ],
      },
    },
    {
      query: '{ toasters { ...T ...N } } fragment T on Toaster { id } fragment N on Node { id __typename }',
      data: {
        toasters: [
          { id: 'toaster1', __typename: 'Toaster' },
          { id: 'toaster2', __typename: 'Toaster' },
        ],
      },
    },
    { query: '{ node(id: "oven1") { ... on Oven { warranty } } }', data: { node: null }, errors: true },
    { query: '{ node(id: "toaster1") { ... on Toaster { warranty } } }', data: { node: { warranty: 3 } } },
    {
      query: '{ products { __typename kind: __typename ... on Oven { warranty } } }',
      data: {
        products: [
          { __typename: 'Oven', kind: 'Oven', warranty: 1 },
          { __typename: 'Toaster', kind: 'Toaster' },
          { __typename: 'Toaster', kind: 'Toaster' },
        ],
      },
    },
  ],
};

const PROVIDED: Suite = {
  name: '@provides, also in depth and on a union',
  subgraphs: {
    a: {
      sdl: `
        type Query { products: [Product] @provides(fields: "categories { id name }") media: [Media] @shareable @provides(fields: "... on Book { title }") }
        type Product @key(fields: "id") { id: ID! categories: [Category] @external }
        type Category @key(fields: "id") { id: ID! name: String @external }
        union Media = Book | Movie
        type Book @key(fields: "id") { id: ID! title: String @external }
        type Movie @key(fields: "id") { id: ID! }`,
      resolvers: {
        Query: { products: () => [{ id: 'p1', categories: [CATEGORY] }], media: () => [{ id: 'm1', title: 'provided' }, { id: 'm2' }] },
        Media: { __resolveType: ({ id }: any) => (id === 'm1' ? 'Book' : 'Movie') },
      },
    },
    b: {
      sdl: `
        type Product @key(fields: "id") { id: ID! categories: [Category] @shareable }
        type Category @key(fields: "id") { id: ID! name: String @shareable size: Int }
        type Book @key(fields: "id") { id: ID! title: String @shareable }
        type Movie @key(fields: "id") { id: ID! title: String @shareable }`,
      resolvers: {
        Product: { __resolveReference: ({ id }: any) => ({ id, categories: [CATEGORY] }) },
        Category: { __resolveReference: ({ id }: any) => ({ ...CATEGORY, id, size: 7 }) },
        Book: { __resolveReference: ({ id }: any) => ({ id, title: 'asked' }) },
        Movie: { __resolveReference: ({ id }: any) => ({ id, title: 'movie' }) },
      },
    },
  },
  queries: [
    {
      query: '{ products { id categories { id name } } }',
      data: { products: [{ id: 'p1', categories: [{ id: 'c1', name: 'category' }] }] },
    },
    { query: '{ products { categories { name size } } }', data: { products: [{ categories: [{ name: 'category', size: 7 }] }] } },
    { query: '{ media { ... on Book { title } ... on Movie { title } } }', data: { media: [{ title: 'provided' }, { title: 'movie' }] } },
  ],
};

const OVERRIDE: Suite = {
  name: '@override, also from a subgraph that is not there',
  subgraphs: {
    a: {
      sdl: 'type Query { feed: [Post] @shareable } type Post @key(fields: "id") { id: ID! createdAt: String! }',
      resolvers: {
        Query: { feed: () => [{ id: 'p1', createdAt: 'never' }] },
        Post: { __resolveReference: ({ id }: any) => ({ id, createdAt: 'never' }) },
      },
    },
    b: {
      sdl: 'type Query { feed: [Post] @shareable } type Post @key(fields: "id") { id: ID! createdAt: String! @override(from: "a") title: String @override(from: "nobody") }',
      resolvers: {
        Query: { feed: () => [{ id: 'p1', createdAt: 'b', title: 't' }] },
        Post: { __resolveReference: ({ id }: any) => ({ id, createdAt: 'b', title: 't' }) },
      },
    },
  },
  queries: [{ query: '{ feed { id createdAt title } }', data: { feed: [{ id: 'p1', createdAt: 'b', title: 't' }] } }],
};

const HIDDEN: Suite = {
  name: 'what is inaccessible serves as a key and is not shown',
  subgraphs: {
    a: {
      sdl: 'type Query { users: [User] } type User @key(fields: "id") { id: ID @inaccessible name: String }',
      resolvers: { Query: { users: () => [{ id: 'u1', name: 'n' }] } },
    },
    b: {
      sdl: 'type User @key(fields: "id") { id: ID age: Int }',
      resolvers: { User: { __resolveReference: ({ id }: any) => ({ id, age: id === 'u1' ? 11 : null }) } },
    },
  },
  queries: [{ query: '{ users { name age } }', data: { users: [{ name: 'n', age: 11 }] } }],
};

const REQUIRES_DEPTH: Suite = {
  name: '@requires of a field that itself requires, of an object and of an interface with fragments',
  subgraphs: {
    a: {
      sdl: `
        type Query { product: Product }
        type Product @key(fields: "id") { id: ID! price: Float! origin: Origin! }
        interface Origin { country: String! }
        type Farm implements Origin { country: String! hectares: Int! }
        type Mine implements Origin { country: String! depth: Int! }`,
      resolvers: {
        Query: { product: () => ({ id: 'p1' }) },
        Product: { __resolveReference: (one: object) => one, price: () => 699, origin: () => ({ country: 'IS', hectares: 12 }) },
        Origin: { __resolveType: () => 'Farm' },
      },
    },
    b: {
      sdl: `
        type Product @key(fields: "id") {
          id: ID! price: Float! @external hasDiscount: Boolean! @requires(fields: "price")
          origin: Origin! @external label: String! @requires(fields: "origin { country ... on Farm { hectares } ... on Mine { depth } }")
        }
        interface Origin { country: String! }
        type Farm implements Origin { country: String! @external hectares: Int! @external }
        type Mine implements Origin { country: String! @external depth: Int! @external }`,
      resolvers: {
        Product: {
          __resolveReference: (one: object) => one,
          hasDiscount: ({ price }: any) => price > 500,
          label: ({ origin }: any) => `${origin.country} ${origin.hectares ?? origin.depth}`,
        },
        Origin: { __resolveType: ({ __typename }: any) => __typename },
      },
    },
    c: {
      sdl: 'type Product @key(fields: "id") { id: ID! hasDiscount: Boolean! @external isExpensive: Boolean! @requires(fields: "hasDiscount") }',
      resolvers: { Product: { __resolveReference: (one: object) => one, isExpensive: ({ hasDiscount }: any) => hasDiscount } },
    },
    d: {
      sdl: 'type Product @key(fields: "id") { id: ID! isExpensive: Boolean! @external canAfford: Boolean! @requires(fields: "isExpensive") }',
      resolvers: { Product: { __resolveReference: (one: object) => one, canAfford: ({ isExpensive }: any) => !isExpensive } },
    },
  },
  queries: [
    { query: '{ product { canAfford } }', data: { product: { canAfford: false } } },
    {
      query: '{ product { canAfford isExpensive hasDiscount price } }',
      data: { product: { canAfford: false, isExpensive: true, hasDiscount: true, price: 699 } },
    },
    { query: '{ product { label } }', data: { product: { label: 'IS 12' } } },
    { query: '{ product { label origin { country } } }', data: { product: { label: 'IS 12', origin: { country: 'IS' } } } },
  ],
};

const PARENT_CALL: Suite = {
  name: 'a value type that is reached by the entity above it only',
  subgraphs: {
    a: {
      sdl: 'type Query { products: [Product] } type Product @key(fields: "id") { id: ID! category: Category @shareable } type Category { details: String @shareable }',
      resolvers: { Query: { products: () => [{ id: 'p1' }] }, Product: { category: () => ({ details: 'd' }) } },
    },
    b: {
      sdl: 'type Product @key(fields: "id") { id: ID! category: Category @shareable } type Category { id: ID name: String }',
      resolvers: { Product: { __resolveReference: (one: object) => one, category: () => ({ id: 'c1', name: 'n' }) } },
    },
  },
  queries: [
    { query: '{ products { id category { details } } }', data: { products: [{ id: 'p1', category: { details: 'd' } }] } },
    { query: '{ products { category { id name details } } }', data: { products: [{ category: { id: 'c1', name: 'n', details: 'd' } }] } },
  ],
};

export const MORE_SUITES: readonly Suite[] = [
  REQUIRES_ARGUMENT,
  EXTERNAL_ON_THE_WAY,
  NULL_KEYS,
  REQUIRES_CIRCLE,
  INDIRECT_EXTENSION,
  ENUMS,
  FEDERATION_1,
  CONDITIONS,
  MUTATIONS,
  SHARED_ROOT,
  DISTRIBUTED,
  PROVIDED,
  OVERRIDE,
  HIDDEN,
  REQUIRES_DEPTH,
  PARENT_CALL,
];
