import { rowReferences, stubReferences } from '../../runtime/data/references.js';
import { rowsBy } from '../../runtime/data/rows.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { WorkflowDefinition } from './entities/definition.js';
import { WorkflowRun } from './entities/run.js';
import { WorkflowTask } from './entities/task.js';
import { READERS } from './entities/enums.js';
import { mayDecide } from './queries/task.js';

const tasks: ReferenceLoader = async (ctx, references: readonly { id: string }[]) => {
  const ids = references.map(({ id }) => id);
  return (await rowsBy(ctx, WorkflowTask, 'id', ids)).map(task => (task && mayDecide(ctx, task) ? task : null));
};

/** One batch loader for each type that is resolved by key; who may not read what is added to others' types is refused by its field. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  WorkflowRun: rowReferences(WorkflowRun, { readers: READERS }),
  WorkflowTask: tasks,
  WorkflowDefinition: rowReferences(WorkflowDefinition, { key: 'key', readers: READERS }),
  User: stubReferences,
  CriticalAlert: stubReferences,
  LoopTick: stubReferences,
};
