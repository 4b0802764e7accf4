/**
 * The data behind the four canned services; always the same. The first 6 users, 9 products and 11 reviews have the shape of the public
 * gateways benchmark (each of those users owns the first two reviews, each early review is by user 1), so that one entity turns up many
 * times in an answer; the rest is spread out, without repeats, for point reads.
 */
export interface User {
  id: string;
  name: string;
  username: string;
  birthday: number;
}
export interface Product {
  upc: string;
  name: string;
  /** Cents. */
  price: number;
  /** Grams. */
  weight: number;
}
export interface Stock {
  upc: string;
  inStock: boolean;
}
export interface Review {
  id: string;
  body: string;
  upc: string;
  userId: string;
}

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

const WORDS = (
  'amber basalt cedar delta ember fjord garnet harbor island jasper kelp linden marble nectar onyx pebble ' +
  'quartz river saffron timber umber velvet willow xenon yarrow zephyr'
).split(' ');

/** Words up to a length, by a linear congruential generator. */
function text(seed: number, length: number): string {
  let [text, state] = ['', seed * 7919 + 17];
  while (text.length < length) {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    text += `${WORDS[(state >>> 8) % WORDS.length]} `;
  }
  return `${text.slice(0, length).trimEnd()}.`;
}

const NAMES = ['Ada Reed', 'Ben Okoro', 'Cleo Marsh', 'Dev Anand', 'Eve Lund', 'Finn Ito'];
export const users: readonly User[] = range(200).map(at => ({
  id: String(at + 1),
  name: NAMES[at] ?? `User Number ${at + 1}`,
  username: NAMES[at]?.split(' ')[0]!.toLowerCase() ?? `u${at + 1}`,
  birthday: 1234567890 - at,
}));

const PRICES = [899, 1299, 15, 499, 1299, 6999, 3999, 100000, 9999];
const WEIGHTS = [100, 1000, 20, 100, 1000, 300, 2000, 6000, 800];
const GOODS = ['Desk', 'Sofa', 'Cup', 'Stool', 'Screen', 'Lamp', 'Stove', 'Freezer', 'Bed'];
export const products: readonly Product[] = range(100).map(at => ({
  upc: String(at + 1),
  name: GOODS[at] ?? `Product ${at + 1}`,
  price: PRICES[at] ?? 50 + 13 * at,
  weight: WEIGHTS[at] ?? 10 + 7 * at,
}));

const LENGTHS = [445, 290, 275, 145, 445, 290, 275, 145, 145, 145, 850];
const REVIEWED = [1, 1, 1, 1, 2, 2, 2, 2, 3, 4, 4];
const early = LENGTHS.map((length, at) => ({ id: String(at + 1), body: text(at + 1, length), upc: String(REVIEWED[at]), userId: '1' }));
const reviewsBy = (user: number): Review[] =>
  range(3).map(at => ({
    id: `${user}-${at}`,
    body: text(user * 3 + at, 120),
    upc: String(10 + ((user * 3 + at) % 91)),
    userId: String(user),
  }));
export const reviews: readonly Review[] = [...early, ...range(194).flatMap(at => reviewsBy(at + 7))];

export const userById = new Map(users.map(one => [one.id, one]));
export const productByUpc = new Map(products.map(one => [one.upc, one]));
export const stockByUpc = new Map(products.map(({ upc }, at) => [upc, { upc, inStock: at % 3 !== 1 }]));
export const reviewById = new Map(reviews.map(one => [one.id, one]));

const grouped = (keyOf: (one: Review) => string): Map<string, Review[]> =>
  new Map([...new Set(reviews.map(keyOf))].map(key => [key, reviews.filter(one => keyOf(one) === key)]));
const [byUpc, byUser] = [grouped(one => one.upc), grouped(one => one.userId)];
const NONE: readonly Review[] = [];
const FIRST_TWO = reviews.slice(0, 2);
export const reviewsOfProduct = (upc: string): readonly Review[] => byUpc.get(upc) ?? NONE;
export const reviewsOfUser = (id: string): readonly Review[] => (Number(id) <= 6 ? FIRST_TWO : (byUser.get(id) ?? NONE));
export const shippingEstimate = (price: number, weight: number): number => (price > 1000 ? 0 : Math.floor(weight / 2));
