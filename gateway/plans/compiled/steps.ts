import type { ConditionNode, PlanNode } from '@apollo/query-planner';
import { compileFetch, type Fetch, type FetchSetting } from './fetch.js';
import type { PlanPath } from './paths.js';
import type { Step } from './run.js';

interface PlanSetting extends FetchSetting {
  /** Defaults of the operation's boolean variables. */
  defaults: Readonly<Record<string, boolean>>;
}

/** The compiled executor does not support a part of the plan; the stock one runs it. */
export class UnknownPlan extends Error {}

/** Compiles a node of a plan at a path of the response. @throws UnknownPlan */
export function compileNode(node: PlanNode, path: PlanPath, setting: PlanSetting): Step {
  switch (node.kind) {
    case 'Sequence':
      return inSequence(node.nodes.map(child => compileNode(child, path, setting)));
    case 'Parallel':
      return inParallel(node.nodes.map(child => compileNode(child, path, setting)));
    case 'Flatten':
      return compileNode(node.node, [...path, ...node.path], setting);
    case 'Condition':
      return conditional(node, path, setting);
    case 'Fetch':
      if (node.contextRewrites?.length || node.hasDefers || node.variableUsages?.includes('representations'))
        throw new UnknownPlan('a fetch with context, defers or a variable named representations');
      return compileFetch(node as Fetch, path, setting);
    default:
      throw new UnknownPlan(`a plan node ${node.kind}`);
  }
}

const inSequence =
  (steps: readonly Step[]): Step =>
  async run => {
    for (const step of steps) await step(run);
  };

const inParallel =
  (steps: readonly Step[]): Step =>
  async run => {
    await Promise.all(steps.map(step => step(run)));
  };

const nothing: Step = async () => undefined;

/** `@skip` and `@include` of whole fetches. Variables were coerced before, so the value is a boolean. */
function conditional({ condition, ifClause, elseClause }: ConditionNode, path: PlanPath, setting: PlanSetting): Step {
  const [yes, no] = [ifClause, elseClause].map(branch => (branch ? compileNode(branch, path, setting) : nothing)) as [Step, Step];
  return run => ((run.variables[condition] ?? setting.defaults[condition]) ? yes : no)(run);
}
