import type { QueryPlanSelectionNode } from '@apollo/query-planner';
import type { GraphQLSchema } from 'graphql';
import { jsonOf } from './json.js';
import type { Row } from './rows.js';
import { satisfies } from './types.js';

/** JSON text of an object's representation; null when the object lacks a field of it. */
export type Represent = (object: Row) => string | null;

/** A field of a representation. */
interface Needed {
  /** Its name in the data. */
  readonly key: string;
  /** JSON text before its value: comma, the name that the subgraph expects, colon. */
  readonly prefix: string;
  readonly nested: Represent | null;
}

/** What the planner requires. `readAs`: the field's key in the data, where that is not its name. */
export type Requirement = QueryPlanSelectionNode & { readonly readAs?: string; readonly selections?: readonly Requirement[] };

class RepresentationCompiler {
  constructor(private readonly schema: GraphQLSchema) {}

  /**
   * Compiles a writer of representations, for each runtime type at its first use. A fragment of which the object lacks a field adds
   * nothing, as in the stock executor, so each combination of complete fragments has its own writer. An object without a type name has
   * no representation at the top.
   */
  compile(requires: readonly Requirement[], top: boolean): Represent {
    const byType = new Map<string, Represent>();
    return object => {
      const type = object.__typename as string;
      let represent = byType.get(type);
      if (!represent) byType.set(type, (represent = this.#forType(requires, type, top)));
      return represent(object);
    };
  }

  #forType(requires: readonly Requirement[], type: string, top: boolean): Represent {
    const groups = this.#groups(requires, type);
    const writer = (fields: readonly Requirement[]): Represent => (top && !fields.some(isTypename) ? () => null : this.#writer(fields));
    const whole = writer(groups.flat());
    if (groups.length <= 1) return whole;
    return object => {
      const complete = groups.filter(fields => fields.every(field => object[keyOf(field)] !== undefined));
      return complete.length === groups.length ? whole(object) : writer(complete.flat())(object);
    };
  }

  /** Fields by fragment; first those outside of fragments, all of which must be there. */
  #groups(selections: readonly Requirement[], type: string): Requirement[][] {
    const own = selections.filter(one => one.kind === 'Field');
    const inner = selections.filter(
      one => one.kind === 'InlineFragment' && one.typeCondition !== undefined && satisfies(this.schema, type, one.typeCondition),
    );
    const groups = inner.flatMap(fragment => this.#groups(fragment.selections as readonly Requirement[], type));
    return own.length ? [own, ...groups] : groups;
  }

  #writer(fields: readonly Requirement[]): Represent {
    const byKey = new Map<string, Requirement[]>();
    for (const field of fields) byKey.set(nameOf(field), [...(byKey.get(nameOf(field)) ?? []), field]);
    const needed = [...byKey].map(([name, same], at) => this.#needed(name, same, at));
    return object => writeMembers(needed, object);
  }

  #needed(name: string, same: readonly Requirement[], at: number): Needed {
    const selections = same.flatMap(field => field.selections ?? []);
    const nested = selections.length ? this.#nested(selections) : null;
    return { key: keyOf(same[0]!), prefix: `${at ? ',' : ''}${JSON.stringify(name)}:`, nested };
  }

  #nested(selections: readonly Requirement[]): Represent {
    const represent = this.compile(selections, false);
    const write = (value: unknown): string => {
      if (value === null || value === undefined) return 'null';
      return Array.isArray(value) ? `[${value.map(write).join(',')}]` : (represent(value as Row) ?? 'null');
    };
    return write as Represent;
  }
}

const nameOf = (field: Requirement): string => (field.kind === 'Field' ? (field.alias ?? field.name) : '');
const isTypename = (field: Requirement): boolean => nameOf(field) === '__typename';
const keyOf = (field: Requirement): string => field.readAs ?? nameOf(field);

function writeMembers(fields: readonly Needed[], object: Row): string | null {
  let text = '{';
  for (const { key, prefix, nested } of fields) {
    const value = object[key];
    if (value === undefined) return null;
    text += prefix + (nested ? nested(value as Row) : jsonOf(value));
  }
  return `${text}}`;
}

/** Compiles the writer of a fetch's representations; it returns null for objects that the fetch is not for. */
export const compileRepresentation = (schema: GraphQLSchema, requires: readonly Requirement[]): Represent =>
  new RepresentationCompiler(schema).compile(requires, true);
