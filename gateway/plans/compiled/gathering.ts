import type { PlanNode } from '@apollo/query-planner';

/** Nodes below a node of which at most one runs at any time, or all of which may. */
function childrenOf(node: PlanNode): readonly PlanNode[] {
  switch (node.kind) {
    case 'Sequence':
    case 'Parallel':
      return node.nodes;
    case 'Flatten':
      return [node.node];
    case 'Condition':
      return [node.ifClause, node.elseClause].filter(one => one !== undefined);
    default:
      return [];
  }
}

/**
 * Services of which a plan may ask for entities in several branches at once. Only their fetches are worth a wait for each other.
 * Returns the services of all fetches of entities below the node; those that are asked in several branches are added to `found`.
 */
function entityServices(node: PlanNode, found: Set<string>): Set<string> {
  if (node.kind === 'Fetch') return new Set(node.requires ? [node.serviceName] : []);
  const all = new Set<string>();
  for (const child of childrenOf(node))
    for (const service of entityServices(child, found)) {
      if (node.kind === 'Parallel' && all.has(service)) found.add(service);
      all.add(service);
    }
  return all;
}

export function gatheringServices(node: PlanNode): ReadonlySet<string> {
  const found = new Set<string>();
  entityServices(node, found);
  return found;
}
