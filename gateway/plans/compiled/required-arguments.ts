import {
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  print,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { noPlan } from './errors.js';

/** `Type.field` -> the field sets of its `@requires`. */
type Requirements = ReadonlyMap<string, readonly SelectionSetNode[]>;

type FieldOf = GraphQLField<unknown, unknown>;

function requiredBy(field: FieldOf): SelectionSetNode[] {
  const sets = (field.astNode?.directives ?? [])
    .filter(one => one.name.value === 'join__field')
    .flatMap(one => one.arguments ?? [])
    .filter(({ name }) => name.value === 'requires');
  return sets.flatMap(({ value }) => {
    if (value.kind !== Kind.STRING) return [];
    const [query] = parse(`{ ${value.value} }`, { noLocation: true }).definitions as [OperationDefinitionNode];
    return query.selectionSet;
  });
}

function requirementsOf(schema: GraphQLSchema): Requirements {
  const types = Object.values(schema.getTypeMap()).filter(type => isObjectType(type) || isInterfaceType(type));
  const entries = types.flatMap(type =>
    Object.values(type.getFields()).map(field => [`${type.name}.${field.name}`, requiredBy(field)] as const),
  );
  return new Map(entries.filter(([, sets]) => sets.length > 0));
}

/** An argument list that a field needs at one place of the answer, and who needs it. */
interface Need {
  arguments: string;
  by: string;
}

/**
 * Finds fields that need one required field with different arguments: `@requires(fields: "price(currency: USD)")` beside one with EUR. The planner
 * asks for one of the two and hands it to both, so such operations are refused.
 */
export class RequiredArguments {
  readonly #requirements: Requirements;

  constructor(private readonly schema: GraphQLSchema) {
    this.#requirements = requirementsOf(schema);
  }

  /** What two fields of an operation need with different arguments; null for nothing. */
  conflictIn({ definitions }: DocumentNode, { operation, selectionSet }: OperationDefinitionNode): string | null {
    if (this.#requirements.size === 0) return null;
    const fragments = definitions.filter(one => one.kind === Kind.FRAGMENT_DEFINITION);
    const search = new Search(this.schema, this.#requirements, new Map(fragments.map(one => [one.name.value, one])));
    search.selections(selectionSet, this.schema.getRootType(operation)!, '');
    return search.conflict;
  }

  /** @throws GraphQLError naming the fields. */
  check(document: DocumentNode, operation: OperationDefinitionNode): void {
    const conflict = this.conflictIn(document, operation);
    if (conflict !== null) throw noPlan(conflict);
  }
}

class Search {
  conflict: string | null = null;
  /** By runtime type and place in the answer. */
  readonly #needs = new Map<string, Need>();
  readonly #seen = new Set<string>();

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly requirements: Requirements,
    private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  ) {}

  /** The client's selections. `place`: the response names down to them. */
  selections(set: SelectionSetNode, parent: GraphQLNamedType, place: string): void {
    for (const selection of set.selections) {
      if (selection.kind !== Kind.FIELD) {
        const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : this.fragments.get(selection.name.value)!;
        this.selections(fragment.selectionSet, this.#conditioned(fragment.typeCondition?.name.value, parent), place);
        continue;
      }
      const { name, alias, selectionSet } = selection;
      for (const type of this.#typesOf(parent)) this.#required(`${type.name}.${name.value}`, type, place);
      if (isInterfaceType(parent)) for (const type of this.#typesOf(parent)) this.#required(`${parent.name}.${name.value}`, type, place);
      const field = this.#fieldOf(parent, name.value);
      if (field && selectionSet) this.selections(selectionSet, getNamedType(field.type), `${place}/${(alias ?? name).value}`);
    }
  }

  #required(coordinate: string, type: GraphQLObjectType, place: string): void {
    const here = `${coordinate} ${type.name} ${place}`;
    if (this.#seen.has(here)) return;
    this.#seen.add(here);
    for (const set of this.requirements.get(coordinate) ?? []) this.#need(set, type, place, coordinate);
  }

  #need(set: SelectionSetNode, parent: GraphQLNamedType, place: string, by: string): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT)
        this.#need(selection.selectionSet, this.#conditioned(selection.typeCondition?.name.value, parent), place, by);
      if (selection.kind !== Kind.FIELD) continue;
      const [name, given] = [selection.name.value, (selection.arguments ?? []).map(print).sort().join()];
      for (const type of this.#typesOf(parent)) {
        this.#note(`${type.name} ${place}/${name}`, { arguments: given, by }, name);
        this.#required(`${type.name}.${name}`, type, place);
      }
      const field = this.#fieldOf(parent, name);
      if (field && selection.selectionSet) this.#need(selection.selectionSet, getNamedType(field.type), `${place}/${name}`, by);
    }
  }

  #note(key: string, need: Need, name: string): void {
    const known = this.#needs.get(key);
    if (!known) this.#needs.set(key, need);
    else if (known.arguments !== need.arguments)
      this.conflict ??= `${known.by} and ${need.by} need ${name} with different arguments; ask for them in two operations`;
  }

  #conditioned(condition: string | undefined, parent: GraphQLNamedType): GraphQLNamedType {
    return (condition && this.schema.getType(condition)) || parent;
  }

  #typesOf(type: GraphQLNamedType): readonly GraphQLObjectType[] {
    if (isObjectType(type)) return [type];
    return isAbstractType(type) ? this.schema.getPossibleTypes(type) : [];
  }

  #fieldOf(type: GraphQLNamedType, name: string): FieldOf | undefined {
    return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
  }
}
