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

/** Begins response names that are ours; a client's that begins so is renamed too, so none can meet. */
const PREFIX = 'client_';

const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype));

export interface Renamed {
  document: DocumentNode;
  /** Our response name -> the client's. */
  names: ReadonlyMap<string, string>;
}

/**
 * Gives a client's response names another spelling where they could meet a field that the plan itself fetches into the same object:
 * an alias that is called like a field of some `@key` or `@requires`, and a required field that takes arguments, which client and
 * plan may ask with different ones. The stock executor lets one overwrite the other. The same goes for names that every JavaScript
 * object inherits. The response writer puts the client's names back.
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

  /** The document as it is to be planned. */
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

/** A path as the client knows it. */
export const clientPath = (
  path: readonly (string | number)[] | undefined,
  names: ReadonlyMap<string, string>,
): (string | number)[] | undefined => path?.map(step => (typeof step === 'string' ? (names.get(step) ?? step) : step));

/** A message of the response's shaping, which names the field: `Product.client_id` -> `Product.id`. */
export const clientMessage = (message: string, names: ReadonlyMap<string, string>): string =>
  message.replace(/(?<=\.)\w+/g, word => names.get(word) ?? word);
