/** What a schema lets through: flat numbers, booleans and codes. */
export type Value = number | boolean | string;
export type Values = Readonly<Record<string, Value>>;

/** A candidate as a ranker sees it. */
export interface Candidate {
  id: string;
  features: Values;
  tags: readonly string[];
  codes: readonly string[];
}

/** What features are read from. */
export interface Observation {
  context: Values;
  /** `set.key` to value, of the feature vectors that are fresh enough. */
  features: Values;
}

/** `ctx.goal=heart`, read once: where from, which key, and the code that makes it 1; `1` is the constant. */
interface Term {
  space: string;
  key: string;
  wanted: string | null;
}

function parseTerm(name: string): Term {
  const [path, wanted = null] = name.split('=', 2) as [string, string | undefined];
  const dot = path.indexOf('.');
  return { space: dot < 0 ? path : path.slice(0, dot), key: path.slice(dot + 1), wanted };
}

/** What a map that was made elsewhere holds under a name of somebody else's choice; `constructor` is a name like any other. */
export const own = <Held>(map: Readonly<Record<string, Held>>, name: string): Held | undefined =>
  Object.hasOwn(map, name) ? map[name] : undefined;

/** Fields with a value; null and left out both mean: as it is. */
export const given = <Fields extends object>(fields: Fields): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> };

/** Names are few and come again with every candidate. */
const parsed = new Map<string, readonly Term[]>();
const KEPT_NAMES = 10_000;

function termsOf(name: string): readonly Term[] {
  let terms = parsed.get(name);
  if (!terms) {
    if (parsed.size >= KEPT_NAMES) parsed.clear();
    parsed.set(name, (terms = name.split('*').map(parseTerm)));
  }
  return terms;
}

function valueOf({ space, key }: Term, observation: Observation, candidate: Candidate): Value | undefined {
  if (space === 'ctx') return own(observation.context, key);
  if (space === 'feat') return own(observation.features, key);
  return key === 'id' ? candidate.id : own(candidate.features, key);
}

const asNumber = (value: Value | undefined): number => (typeof value === 'number' ? value : value === true ? 1 : 0);

/** `ctx.goal=heart` is 1 or 0, `cand.cost_tier` a number, a missing value 0, `1` the constant. */
function evaluate(term: Term, observation: Observation, candidate: Candidate): number {
  if (term.space === '1') return 1;
  const value = valueOf(term, observation, candidate);
  return term.wanted === null ? asNumber(value) : Number(String(value ?? '') === term.wanted);
}

/** A named feature; `a*b` is a product of features, which is how context meets candidate. */
export const featureValue = (name: string, observation: Observation, candidate: Candidate): number =>
  productOf(termsOf(name), observation, candidate);

function productOf(terms: readonly Term[], observation: Observation, candidate: Candidate): number {
  let product = 1;
  for (const term of terms) {
    product *= evaluate(term, observation, candidate);
    if (product === 0) return 0;
  }
  return product;
}

/** Terms of the features of a frozen part, by its list of names. */
const listed = new WeakMap<readonly string[], readonly (readonly Term[])[]>();

function termsOfAll(names: readonly string[]): readonly (readonly Term[])[] {
  const known = listed.get(names);
  if (known) return known;
  const terms = names.map(termsOf);
  listed.set(names, terms);
  return terms;
}

/** The vector of named features, in their order. */
export const encode = (names: readonly string[], observation: Observation, candidate: Candidate): number[] =>
  termsOfAll(names).map(terms => productOf(terms, observation, candidate));

/** Values of the segment keys joined by `|`, a missing one `_`. Source: intelligence 2, bundle parts. */
export const segmentOf = (keys: readonly string[], context: Values): string => keys.map(key => String(own(context, key) ?? '_')).join('|');

/** Σ a_i b_i, in the order of the indices. */
export function dot(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += a[index]! * b[index]!;
  return sum;
}
