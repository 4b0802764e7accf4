import { expect } from 'vitest';
import { z } from 'zod';
import type { DataOf, EventDefinition } from '../../events/define.js';
import { prepareEvent } from '../../events/outbox.js';
import { DEFINITIONS } from '../../subgraphs/workflow/commands/definitions/definitions.js';
import type { WorkflowDefinitionCode } from '../../subgraphs/workflow/ports/workflow.js';
import type { Answer, TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

/** A definition of a test; the executor of this process knows it at once. */
export function define(key: string, run: WorkflowDefinitionCode['run'], rest: Partial<WorkflowDefinitionCode> = {}): void {
  const definition = {
    title: key,
    version: 1,
    owner: 'workflow',
    steps: [],
    timeoutDays: 1,
    maxConcurrent: 5,
    input: z.object({ n: z.int().optional(), user_id: z.uuid().optional() }),
    ...rest,
    key,
    run,
  };
  (DEFINITIONS as Map<string, WorkflowDefinitionCode>).set(key, definition as WorkflowDefinitionCode);
}

const DECISION = { type: 'object', required: ['decision'], additionalProperties: false, properties: { decision: { enum: ['yes', 'no'] } } };
const HOUR_MS = 3_600_000;

/** A definition with a task that is due in an hour; its output is the decision, `none` when nobody made one. */
export const defineTask = (key: string, assignee: { assigneeRole: string } | { assigneeId: string }): void =>
  define(key, async run => {
    const dueAt = new Date((await run.now()).getTime() + HOUR_MS);
    const subject = { type: 'test', id: 'one' };
    const result = await run.waitTask({ title: 'Decide', kind: 'test', subject, ...assignee, dueAt, form: DECISION });
    return { decision: result === null ? 'none' : String(result.decision) };
  });

/** The workflow service as its callers see it. */
export class Orchestrator {
  constructor(
    readonly p: TestPlatform,
    readonly token: string,
  ) {}

  /** Nothing starts by time alone; the clock begins at `now`. */
  static async open(p: TestPlatform, now: string): Promise<Orchestrator> {
    await p.sql('update workflow.workflow_trigger set next_at = null');
    await p.sql('update workflow.workflow_definition set alarmed_at = now()');
    await p.clock('workflow', { now });
    return new Orchestrator(p, await p.serviceToken());
  }

  call(method: string, path: string, body?: object, token = this.token): Promise<Answer> {
    return this.p.rest(method, `/workflow/v1${path}`, { token, body });
  }

  async start(definition: string, body: object = {}): Promise<string> {
    const answer = await this.call('POST', `/workflows/${definition}/runs`, { input: {}, ...body });
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 });
    return answer.body.id;
  }

  async run(id: string): Promise<any> {
    return (await this.call('GET', `/runs/${id}`)).body;
  }

  reaches(id: string, status: string): Promise<any> {
    return until(
      `run ${id} to be ${status}`,
      () => this.run(id),
      run => run.status === status,
      30_000,
    );
  }

  async steps(id: string): Promise<any[]> {
    return (await this.call('GET', `/runs/${id}/steps`)).body.data;
  }

  async runsOf(definition: string): Promise<any[]> {
    return (await this.call('GET', `/runs?definition=${definition}&limit=100`)).body.data;
  }

  /** The only run of a definition, once it is there. */
  async onlyRun(definition: string): Promise<any> {
    const runs = await until(
      `a run of ${definition}`,
      () => this.runsOf(definition),
      all => all.length > 0,
    );
    expect(runs).toHaveLength(1);
    return runs[0];
  }

  tasks(run: string): Promise<{ id: string; status: string; assignee_role: string | null; title: string }[]> {
    return this.p.sql('select id, status, assignee_role, title from workflow.workflow_task where run_id = $1 order by created_at, id', [
      run,
    ]);
  }

  /** Parameters of the messages that comms was asked for. */
  async messages(template: string): Promise<any[]> {
    const rows = await this.p.sql(
      `select data, user_id from events.outbox where type = 'comms.message.send_requested.v1' and data->>'template' = $1 order by seq`,
      [template],
    );
    return rows.map(row => ({ user: row.user_id, role: row.data.recipient_id, ...row.data.params }));
  }

  clock(move: { now: string } | { advance: string }): Promise<void> {
    return this.p.clock('workflow', move);
  }

  /** Publishes events in the name of a service that need not be there. */
  async tell<E extends EventDefinition>(event: E, data: DataOf<E>, userId: string | null, times = 1): Promise<void> {
    const by = { source: event.owner, requestId: null, causationId: null, actor: `system:${event.owner}`, traceparent: null };
    const rows = JSON.stringify(Array.from({ length: times }, () => prepareEvent(event, data, { userId }, by)));
    await this.p.sql(`begin; set local role platform_events; select events.append($rows$${rows}$rows$::json, null); commit`);
    this.p.host('workflow').transport.wake();
  }
}
