import {
  getNamedType,
  isObjectType,
  isScalarType,
  Kind,
  parse,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { Selections } from './selections.js';

/** What one document selects of an object. */
interface Selected {
  readonly selections: Selections;
  readonly sets: readonly SelectionSetNode[];
}

type Fields = readonly (readonly [string, readonly FieldNode[]])[];

const fieldsOf = ({ selections, sets }: Selected, { name }: GraphQLObjectType): Fields => [...selections.collect(sets, name)];

const below = ({ selections }: Selected, nodes: readonly FieldNode[]): Selected => ({
  selections,
  sets: nodes.flatMap(node => node.selectionSet ?? []),
});

/**
 * Whether the answer to a fetch of root fields is, byte for byte, what the client asked for: the same fields under the same names in the
 * same order, of object types, which hide nothing, and of scalars, whose text is the subgraph's own. Not so for enums, of whose values the
 * API may lack some, for interfaces and unions, whose objects may have a type that it lacks, and for the root's `__typename`, which a
 * subgraph may call otherwise.
 */
export function asksTheSame(schema: GraphQLSchema, root: GraphQLObjectType, client: Selected, fetch: string): boolean {
  const document = parse(fetch, { noLocation: true });
  const operation = document.definitions.find((one): one is OperationDefinitionNode => one.kind === Kind.OPERATION_DEFINITION)!;
  const fetched: Selected = { selections: new Selections(schema, document, {}), sets: [operation.selectionSet] };
  return sameObject(root, client, fetched, true);
}

function sameObject(type: GraphQLObjectType, client: Selected, fetched: Selected, isRoot: boolean): boolean {
  const [wanted, got] = [fieldsOf(client, type), fieldsOf(fetched, type)];
  return wanted.length === got.length && wanted.every((one, at) => sameField(one, got[at]!));

  function sameField([name, nodes]: Fields[number], [otherName, others]: Fields[number]): boolean {
    const field = nodes[0]!.name.value;
    if (name !== otherName || field !== others[0]!.name.value) return false;
    if (field === '__typename') return !isRoot;
    const inner = getNamedType(type.getFields()[field]!.type);
    if (isScalarType(inner)) return true;
    return isObjectType(inner) && sameObject(inner, below(client, nodes), below(fetched, others), false);
  }
}
