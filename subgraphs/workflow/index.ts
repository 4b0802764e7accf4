import { service } from '../../runtime/service.js';
import { consumers } from './consumers.js';
import { WorkflowDefinition } from './entities/definition.js';
import { WorkflowRun } from './entities/run.js';
import { WorkflowTask } from './entities/task.js';
import { erase } from './erase.js';
import { settingsOf } from './ports/settings.js';
import { references } from './references.js';
import { DefinitionResolver } from './resolvers/definition.js';
import { AlertRunResolver, TickRunResolver, UserRunsResolver } from './resolvers/extended.js';
import { RunResolver } from './resolvers/run.js';
import { TaskResolver } from './resolvers/task.js';
import { CriticalAlert, LoopTick, User } from './stubs.js';
import { timekeepers } from './workers/timekeeper.js';
import { workers } from './workers/worker.js';

export default service({
  slug: 'workflow',
  purpose: 'Durable processes of several steps that outlive deployments and wait for people, events and time',
  entities: [WorkflowDefinition, WorkflowRun, WorkflowTask],
  resolvers: [DefinitionResolver, RunResolver, TaskResolver, UserRunsResolver, AlertRunResolver, TickRunResolver],
  types: [User, CriticalAlert, LoopTick],
  references,
  consumers,
  timers: timekeepers,
  workers,
  erase,
  native: async (_app, host) => void settingsOf(host), // has no path of its own; a wrong setting stops the start
});
