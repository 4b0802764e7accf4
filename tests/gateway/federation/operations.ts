import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  parse,
  specifiedRules,
  validate,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql';

/** The same numbers for the same seed, from 0 to 1. Source: mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export interface Generated {
  source: string;
  variables: Record<string, unknown>;
}

const MAX_DEPTH = 5;
/** Response names for any field, so that they clash: with each other, with fields, with names that every object inherits. */
const ALIASES = ['a', 'b', 'id', 'name', 'price', 'constructor', 'toString', 'é'.normalize('NFD')[0]!, '_x1'];

class Writer {
  readonly variables: Record<string, unknown> = {};
  readonly #definitions: string[] = [];
  readonly #fragments: string[] = [];
  readonly #fragmentNames = new Map<string, string[]>();
  #left: number;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly random: () => number,
  ) {
    this.#left = 4 + this.#upTo(40);
  }

  operation(kind: 'query' | 'mutation'): string {
    const root = kind === 'query' ? this.schema.getQueryType()! : this.schema.getMutationType()!;
    const body = this.#selections(root, 0);
    const variables = this.#definitions.length ? `(${this.#definitions.join(', ')})` : '';
    return [`${kind} ${this.#chance(0.5) ? 'Generated' : ''}${variables} ${body}`, ...this.#fragments].join('\n');
  }

  #upTo(bound: number): number {
    return Math.floor(this.random() * bound);
  }

  #chance(share: number): boolean {
    return this.random() < share;
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#upTo(list.length)]!;
  }

  #selections(type: GraphQLCompositeType, depth: number): string {
    const count = 1 + this.#upTo(depth === 0 ? 3 : 4);
    const parts = Array.from({ length: count }, () => this.#selection(type, depth)).filter(Boolean);
    return `{ ${parts.length ? parts.join(' ') : '__typename'} }`;
  }

  #selection(type: GraphQLCompositeType, depth: number): string {
    this.#left--;
    const dice = this.random();
    if (dice < 0.08) return `${this.#chance(0.3) ? `${this.#one(ALIASES)}: ` : ''}__typename${this.#condition()}`;
    if (depth > 0 && (dice < 0.24 || (isAbstractType(type) && dice < 0.55))) return this.#fragment(type, depth);
    if (!('getFields' in type)) return this.#fragment(type, depth);
    return this.#field(this.#one(Object.values(type.getFields())), depth);
  }

  #field(field: GraphQLField<unknown, unknown>, depth: number): string {
    const type = getNamedType(field.type);
    if (isCompositeType(type) && (depth >= MAX_DEPTH || this.#left <= 0)) return '';
    const alias = this.#chance(0.12) ? `${this.#one(ALIASES)}: ` : '';
    const args = field.args
      .filter(arg => isNonNullType(arg.type) || this.#chance(0.5))
      .map(arg => `${arg.name}: ${this.#argument(arg.type)}`);
    const inner = isCompositeType(type) ? ` ${this.#selections(type, depth + 1)}` : '';
    return `${alias}${field.name}${args.length ? `(${args.join(', ')})` : ''}${this.#condition()}${inner}`;
  }

  /** An inline fragment or a named one, with or without a condition on the type. */
  #fragment(type: GraphQLCompositeType, depth: number): string {
    if (depth > MAX_DEPTH) return '__typename';
    const condition = this.#one(this.#conditionsFor(type));
    if (this.#chance(0.2)) return `... ${this.#condition()} ${this.#selections(type, depth + 1)}`;
    if (this.#chance(0.6)) return `... on ${condition.name}${this.#condition()} ${this.#selections(condition, depth + 1)}`;
    const known = this.#fragmentNames.get(condition.name) ?? [];
    if (known.length && this.#chance(0.5)) return `...${this.#one(known)}${this.#condition()}`;
    const body = this.#selections(condition, depth + 1);
    const name = `F${this.#fragments.length}`;
    this.#fragments.push(`fragment ${name} on ${condition.name} ${body}`);
    this.#fragmentNames.set(condition.name, [...known, name]);
    return `...${name}${this.#condition()}`;
  }

  #conditionsFor(type: GraphQLCompositeType): GraphQLCompositeType[] {
    const possible = isAbstractType(type) ? this.schema.getPossibleTypes(type) : [type];
    const wider = possible.flatMap(one => one.getInterfaces()).filter(one => isInterfaceType(one));
    return [type, ...possible, ...wider];
  }

  #condition(): string {
    if (!this.#chance(0.1)) return '';
    const kind = this.#one(['skip', 'include']);
    if (this.#chance(0.3)) return ` @${kind}(if: ${this.#chance(0.5)})`;
    const name = `c${this.#upTo(3)}`;
    if (!this.#definitions.some(one => one.startsWith(`$${name}:`))) {
      const withDefault = this.#chance(0.4);
      this.#definitions.push(`$${name}: Boolean${withDefault ? ` = ${this.#chance(0.5)}` : '!'}`);
      if (!withDefault || this.#chance(0.5)) this.variables[name] = this.#chance(0.5);
    }
    return ` @${kind}(if: $${name})`;
  }

  #argument(type: GraphQLInputType): string {
    if (!this.#chance(0.5)) return this.#literal(type);
    const name = `v${this.#definitions.length}`;
    const value = this.#value(type);
    this.#definitions.push(`$${name}: ${type}${!isNonNullType(type) && this.#chance(0.3) ? ` = ${this.#literal(type, true)}` : ''}`);
    if (isNonNullType(type) || this.#chance(0.8)) this.variables[name] = value;
    return `$${name}`;
  }

  #value(type: GraphQLInputType): unknown {
    if (!isNonNullType(type) && this.#chance(0.15)) return null;
    const nullable = getNullableType(type);
    if (isListType(nullable)) return Array.from({ length: this.#upTo(3) }, () => this.#value(nullable.ofType));
    if (isEnumType(nullable)) return this.#one(nullable.getValues()).name;
    if (isInputObjectType(nullable))
      return Object.fromEntries(
        Object.values(nullable.getFields())
          .filter(one => isNonNullType(one.type) || this.#chance(0.6))
          .map(one => [one.name, this.#value(one.type)]),
      );
    return (
      { Int: this.#upTo(4), Float: this.#upTo(9) / 2, Boolean: this.#chance(0.5), ID: `Product-${this.#upTo(4)}` }[String(nullable)] ??
      this.#one(['word', 'q"uote', 'ü\n'])
    );
  }

  #literal(type: GraphQLInputType, constant = false): string {
    const nullable = getNullableType(type);
    if (!isNonNullType(type) && this.#chance(0.1)) return 'null';
    if (isListType(nullable))
      return `[${Array.from({ length: this.#upTo(3) }, () => (constant ? this.#literal(nullable.ofType, true) : this.#argument(nullable.ofType))).join(', ')}]`;
    if (isEnumType(nullable)) return this.#one(nullable.getValues()).name;
    if (!isInputObjectType(nullable)) return JSON.stringify(this.#value(getNullableType(type)) ?? 0);
    const fields = Object.values(nullable.getFields()).filter(one => isNonNullType(one.type) || this.#chance(0.6));
    return `{ ${fields.map(one => `${one.name}: ${constant ? this.#literal(one.type, true) : this.#argument(one.type)}`).join(', ')} }`;
  }
}

/** A valid operation from a seed. Invalid ones, such as those with fields that cannot merge, are thrown away. */
export function operationOf(schema: GraphQLSchema, seed: number): Generated {
  const random = randomOf(seed);
  for (;;) {
    const writer = new Writer(schema, random);
    const source = writer.operation(random() < 0.05 && schema.getMutationType() ? 'mutation' : 'query');
    if (validate(schema, parse(source), specifiedRules).length === 0) return { source, variables: writer.variables };
  }
}
