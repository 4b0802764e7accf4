import type { GraphQLObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import type { Slug } from '../../events/slugs.js';
import { ruleOnNode, type AccessRule } from '../../runtime/access/access.js';
import { buildSubgraph } from '../../runtime/subgraph.js';
import { declarations } from './composition.js';

/**
 * Who may call, as the column "who" of section 4 of a service's contract says it. The other files on access derive what they expect from
 * the rules in the code; this one holds the rules against the contract, for the services that stand here.
 */
const S = { service: 'admin:jobs' };
const read = { ...S, staff: 'admin:jobs:workflow:read' };
const operate = { ...S, staff: 'admin:jobs:workflow:operate' };
/** Any staff: whose role or id is the assignee is looked at by the operation, tests/workflow/callers.test.ts. */
const assignee = { ...S, staff: '*' };

const CONTRACTS: Readonly<Partial<Record<Slug, Readonly<Record<string, AccessRule>>>>> = {
  workflow: {
    workflowDefinitions: read,
    workflowDefinition: read,
    setWorkflowEnabled: operate,
    startWorkflow: operate,
    workflowRuns: read,
    workflowRun: read,
    cancelWorkflowRun: operate,
    resumeWorkflowRun: operate,
    forkWorkflowRun: operate,
    signalWorkflowRun: S,
    workflowTasks: assignee,
    claimWorkflowTask: assignee,
    releaseWorkflowTask: assignee,
    completeWorkflowTask: assignee,
    workflowSchedules: read,
    setWorkflowClock: S,
    // section 6
    'User.workflowRuns': read,
    'CriticalAlert.workflowRun': read,
    'LoopTick.workflowRun': read,
  },
};

const rulesOf = (type: GraphQLObjectType | null | undefined, prefix = ''): [string, AccessRule | null][] =>
  Object.values(type?.getFields() ?? {})
    .filter(({ name }) => !name.startsWith('_'))
    .map(({ name, astNode }) => [`${prefix}${name}`, ruleOnNode(astNode)]);

describe.each(Object.entries(CONTRACTS))('%s', (slug, contract) => {
  const { schema } = buildSubgraph(declarations.find(one => one.slug === slug)!);
  const extended = [...new Set(Object.keys(contract).flatMap(name => (name.includes('.') ? [name.split('.')[0]!] : [])))];
  const added = extended.flatMap(name =>
    rulesOf(schema.getType(name) as GraphQLObjectType, `${name}.`).filter(([field]) => field in contract),
  );

  test('every operation is open to the callers that the contract names, and to no other', () => {
    const rules = [...rulesOf(schema.getQueryType()), ...rulesOf(schema.getMutationType()), ...added];
    expect(Object.fromEntries(rules)).toEqual(contract);
  });
});
