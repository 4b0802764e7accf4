/** What is asked of the gateways. */
export interface Workload {
  query: string;
  /** Variables of each request in turn; the load begins again at the end. */
  variables: readonly Record<string, unknown>[];
  /** What it is like, for the table's readers. */
  title: string;
}

const USER = 'fragment User on User { id username name }';
const REVIEW = 'fragment Review on Review { id body }';
const PRODUCT = 'fragment Product on Product { inStock name price shippingEstimate upc weight }';
const DEEP = 'reviews { ...Review author { ...User reviews { ...Review product { ...Product } } } }';

/** The wide one is the public gateways benchmark's query; ids of the point reads differ, so that no two alike are under way at once. */
export const WORKLOADS: Readonly<Record<string, Workload>> = {
  point: {
    title: 'one user, reviews, products, stock: 4 services, 3 steps, another id each time, 0.7 KB',
    query: 'query Point($id: ID!) { user(id: $id) { id name username reviews { id body product { upc name price inStock } } } }',
    variables: Array.from({ length: 190 }, (_, at) => ({ id: String(7 + at) })),
  },
  one: {
    title: '20 rows of one service',
    query: 'query One($n: Int) { topProducts(first: $n) { upc name price weight } }',
    variables: [{ n: 20 }],
  },
  page: {
    title: 'a screen: 4.7 KB, 4 calls',
    query:
      'query Page($n: Int) { topProducts(first: $n) { upc name price inStock shippingEstimate reviews { id body author { id name username } } } }',
    variables: [{ n: 5 }],
  },
  wide: {
    title: 'every kind of fetch, 85 KB',
    query: `query Wide { users { ...User reviews { ...Review product { ...Product ${DEEP} } } } topProducts { ...Product ${DEEP} } } ${USER} ${REVIEW} ${PRODUCT}`,
    variables: [{}],
  },
};

/** Bodies of a workload's requests. */
export const bodiesOf = ({ query, variables }: Workload): string[] => variables.map(one => JSON.stringify({ query, variables: one }));
