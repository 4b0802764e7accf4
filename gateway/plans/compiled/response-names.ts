import {
  isObjectType,
  isInterfaceType,
  Kind,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type ConstDirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
} from 'graphql';

/** Prefix of changed response names. A client's name with this prefix is changed too, so that the two cannot be equal. */
const PREFIX = 'client_';

const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype));

interface Renamed {
  document: DocumentNode;
  /** Changed response name -> the client's. */
  names: ReadonlyMap<string, string>;
}

/**
 * Changes a client's response names that could equal the name of a field which the plan itself fetches into the same object: an alias
 * that is the name of a field of a `@key` or `@requires`, and a required field with arguments, because client and plan may pass different
 * ones. The stock executor lets one overwrite the other. Names that every JavaScript object inherits are changed, too. The response writer
 * restores the client's names.
 */
export class ResponseNames {
  readonly #fetchedByPlans: ReadonlySet<string>;
  readonly #required: ReadonlySet<string>;

  constructor(
    supergraph: GraphQLSchema,
    private readonly apiSchema: GraphQLSchema,
  ) {
    const sets = fieldSets(supergraph);
    this.#fetchedByPlans = new Set(['__typename', ...sets.flatMap(({ fields }) => namesIn(fields))]);
    this.#required = new Set(sets.filter(({ argument }) => argument === 'requires').flatMap(({ fields }) => namesIn(fields)));
  }

  /** The document with changed names, for the planner. */
  rename(document: DocumentNode): Renamed {
    const names = new Map<string, string>();
    const types = new TypeInfo(this.apiSchema);
    const renamed = visit(
      document,
      visitWithTypeInfo(types, {
        Field: node => {
          const name = node.alias?.value ?? node.name.value;
          if (!this.#canClash(node, name, (types.getFieldDef()?.args.length ?? 0) > 0)) return undefined;
          names.set(PREFIX + name, name);
          return { ...node, alias: { kind: Kind.NAME, value: PREFIX + name } };
        },
      }),
    );
    return { document: names.size ? renamed : document, names };
  }

  #canClash(node: FieldNode, name: string, takesArguments: boolean): boolean {
    if (INHERITED.has(name) || name.startsWith(PREFIX)) return true;
    if (name !== node.name.value && this.#fetchedByPlans.has(name)) return true;
    return takesArguments && this.#required.has(node.name.value);
  }
}

interface FieldSet {
  argument: string;
  /** For example `id region { code }`. */
  fields: string;
}

const SETS = new Set(['key', 'requires', 'provides']);

/** All field sets of a supergraph: in `@join__type(key:)` and `@join__field(requires:, provides:)`. */
function fieldSets(supergraph: GraphQLSchema): FieldSet[] {
  const types = Object.values(supergraph.getTypeMap()).filter(type => isObjectType(type) || isInterfaceType(type));
  const nodes = types.flatMap(type => [type.astNode, ...Object.values(type.getFields()).map(field => field.astNode)]);
  const directives: readonly ConstDirectiveNode[] = nodes.flatMap(node => node?.directives ?? []);
  return directives
    .filter(one => one.name.value.startsWith('join__'))
    .flatMap(one => one.arguments ?? [])
    .flatMap(({ name, value }) =>
      SETS.has(name.value) && value.kind === Kind.STRING ? [{ argument: name.value, fields: value.value }] : [],
    );
}

function namesIn(fields: string): string[] {
  const names: string[] = [];
  visit(parse(`{ ${fields} }`, { noLocation: true }), { Field: node => void names.push(node.name.value) });
  return names;
}

/** A path with the client's names. */
export const clientPath = (
  path: readonly (string | number)[] | undefined,
  names: ReadonlyMap<string, string>,
): (string | number)[] | undefined => path?.map(step => (typeof step === 'string' ? (names.get(step) ?? step) : step));

/** A message of the stock executor's shaping with the client's name of the field: `Product.client_id` -> `Product.id`. */
export const clientMessage = (message: string, names: ReadonlyMap<string, string>): string =>
  message.replace(/(?<=\.)\w+/g, name => names.get(name) ?? name);
