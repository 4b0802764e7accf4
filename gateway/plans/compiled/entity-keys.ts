import type { QueryPlanSelectionNode } from '@apollo/query-planner';
import {
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { noPlan } from './errors.js';
import { graphNames } from './graph-names.js';

/** `@join__type` of one subgraph. */
interface JoinedType {
  graph: string;
  key: string | null;
  resolvable: boolean;
}

function joinedTypes(directives: readonly ConstDirectiveNode[] = []): JoinedType[] {
  return directives
    .filter(one => one.name.value === 'join__type')
    .map(one => {
      const value = (name: string) => one.arguments?.find(argument => argument.name.value === name)?.value;
      const [graph, key, resolvable] = [value('graph'), value('key'), value('resolvable')];
      return {
        graph: graph?.kind === Kind.ENUM ? graph.value : '',
        key: key?.kind === Kind.STRING ? key.value : null,
        resolvable: !(resolvable?.kind === Kind.BOOLEAN && !resolvable.value),
      };
    });
}

/**
 * The supergraph for the planner: a key with `resolvable: false` is left out where the same subgraph has one that resolves, because the planner
 * comes back to a subgraph, after a `@requires`, by the first key there.
 */
export function withoutIdleKeys(supergraph: DocumentNode): DocumentNode {
  const kept = (node: DefinitionNode): DefinitionNode => {
    if (node.kind !== Kind.OBJECT_TYPE_DEFINITION && node.kind !== Kind.INTERFACE_TYPE_DEFINITION) return node;
    const joined = joinedTypes(node.directives);
    const resolving = new Set(joined.filter(one => one.resolvable && one.key !== null).map(one => one.graph));
    const isIdle = (directive: ConstDirectiveNode): boolean => {
      const [one] = joinedTypes([directive]);
      return one !== undefined && !one.resolvable && resolving.has(one.graph);
    };
    return { ...node, directives: node.directives?.filter(one => !isIdle(one)) } as DefinitionNode;
  };
  return { ...supergraph, definitions: supergraph.definitions.map(kept) };
}

/** `id region { code }` -> `id`, `region.code`. */
function pathsOf(fields: string): string[] {
  const walk = (set: SelectionSetNode, above: string): string[] =>
    set.selections.flatMap(one => {
      if (one.kind === Kind.INLINE_FRAGMENT) return walk(one.selectionSet, above);
      if (one.kind !== Kind.FIELD) return [];
      return one.selectionSet ? walk(one.selectionSet, `${above}${one.name.value}.`) : [above + one.name.value];
    });
  const [query] = parse(`{ ${fields} }`, { noLocation: true }).definitions as [OperationDefinitionNode];
  return walk(query.selectionSet, '');
}

const requiredPaths = (selections: readonly QueryPlanSelectionNode[], above = ''): string[] =>
  selections.flatMap(one => {
    if (one.kind === 'InlineFragment') return requiredPaths(one.selections, above);
    return one.selections?.length ? requiredPaths(one.selections, `${above}${one.name}.`) : [above + one.name];
  });

interface Keys {
  resolving: string[][];
  idle: boolean;
}

/** Which keys each subgraph resolves. */
export class EntityKeys {
  /** By `service Type`. */
  readonly #keys = new Map<string, Keys>();

  constructor(supergraph: GraphQLSchema) {
    const names = graphNames(supergraph);
    for (const type of Object.values(supergraph.getTypeMap())) {
      if (!isObjectType(type) && !isInterfaceType(type)) continue;
      for (const { graph, key, resolvable } of joinedTypes(type.astNode?.directives)) {
        if (key === null) continue;
        const at = `${names.get(graph)} ${type.name}`;
        const keys = this.#keys.get(at) ?? { resolving: [], idle: false };
        this.#keys.set(at, keys);
        if (resolvable) keys.resolving.push(pathsOf(key));
        else keys.idle = true;
      }
    }
  }

  /** @throws GraphQLError for a fetch by a key that its subgraph declares and does not resolve. */
  check(service: string, requires: readonly QueryPlanSelectionNode[]): void {
    for (const one of requires) {
      if (one.kind !== 'InlineFragment' || one.typeCondition === undefined) continue;
      const keys = this.#keys.get(`${service} ${one.typeCondition}`);
      if (!keys?.idle) continue;
      const given = new Set(requiredPaths(one.selections));
      if (!keys.resolving.some(paths => paths.every(path => given.has(path))))
        throw noPlan(`${service} resolves no ${one.typeCondition} by the key that is known`);
    }
  }
}
