import { createHash } from 'node:crypto';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';
import { errorCodeOf } from '../../../runtime/jobs/redact.js';
import { sendIfEnded, startChild } from '../commands/starting.js';
import { openTask } from '../commands/task.js';
import type { Engine } from '../ports/dbos.js';
import { awaitMessage, beginWait, isFirst, sendPastEvent, stepBegun, stepEnded, type RunKey, type WaitRow } from '../commands/records.js';
import { DEFAULT_RETRY, delayMs, isFinal } from './retry.js';
import { FinalFailure, StepFailed, type Poll, type Retry, type StepContext, type TaskSpec, type Workflow } from '../ports/workflow.js';
import type { WorkflowDefinitionCode } from '../ports/workflow.js';
import { RUN_ENDED } from '../commands/messages.js';

type Outcome<T> = { ok: true; value: T; at: number } | { ok: false; code: string; final: boolean; at: number };
type Work<T> = (step: StepContext) => Promise<T>;

/** What ends a wait. */
interface Message {
  timeout?: boolean;
  payload?: Record<string, unknown>;
}

export interface ExecutedRun extends RunKey {
  key: string;
  userId: string | null;
  causeId: string | null;
  definitionVersion: number;
}

const digestOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

/** A definition's hold on the engine, for one execution of one run. Source: workflow 1. */
export class EngineWorkflow implements Workflow {
  readonly runId: string;
  readonly key: string;
  readonly userId: string | null;
  #steps = 0;
  #waits = 0;
  #tasks = 0;
  #compensations = 0;

  constructor(
    private readonly host: ServiceHost,
    private readonly engine: Engine,
    private readonly definitions: ReadonlyMap<string, WorkflowDefinitionCode>,
    private readonly definition: WorkflowDefinitionCode,
    private readonly run: ExecutedRun,
  ) {
    ({ runId: this.runId, key: this.key, userId: this.userId } = run);
  }

  /** Something of ours that the engine remembers. */
  #once<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.engine.dbos.runStep(work, { name, retriesAllowed: false } as never);
  }

  /** Of what the engine remembers now; a fork of the run begins after the last one that counts. */
  get #functionId(): number {
    return this.engine.dbos.stepID ?? 0;
  }

  #write<T>(work: (ctx: Context) => Promise<T>): Promise<T> {
    return this.host.transaction(ctx => {
      ctx.causationId = this.run.causeId; // what a run publishes descends from the event that started it
      return work(ctx);
    });
  }

  #stepContext(index: number): StepContext {
    const { host, runId, userId } = this;
    const idempotencyKey = `${runId}:${index}`;
    const once: StepContext['once'] = work =>
      this.#write(async ctx => {
        if (await isFirst(ctx, idempotencyKey, runId)) await work(ctx);
      });
    return { host, runId, userId, idempotencyKey, once };
  }

  async step<T extends object | null>(name: string, work: Work<T>, retry: Retry = DEFAULT_RETRY): Promise<T> {
    const index = ++this.#steps;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#once(`${name}:${attempt}`, () => this.#attempt(index, name, work, retry.delays[attempt - 1], retry));
      if (outcome.ok) return outcome.value;
      if (outcome.final || retry.delays[attempt - 1] === undefined) throw new StepFailed(name, outcome.code);
      await this.#sleep(`retry of ${name}`, new Date(outcome.at));
    }
  }

  /** `at` of a failure is when to try again: recorded, because its spread is random. */
  async #attempt<T extends object | null>(index: number, name: string, work: Work<T>, delay = 0, retry: Retry): Promise<Outcome<T>> {
    const outcome = await this.#asked(index, name, work, () => 'succeeded');
    return outcome.ok ? outcome : { ...outcome, at: outcome.at + delayMs(delay, retry) };
  }

  /** One attempt with its row; `statusOf` decides whether an answer ends the step. */
  async #asked<T>(index: number, name: string, work: Work<T>, statusOf: (value: T) => 'succeeded' | 'running'): Promise<Outcome<T>> {
    const functionId = this.#functionId;
    await this.#write(ctx => stepBegun(ctx, this.run, { index, name, functionId }));
    try {
      const value = await work(this.#stepContext(index));
      return await this.#write(async ctx => {
        await stepEnded(ctx, this.run, index, statusOf(value), { digest: digestOf(value) });
        return { ok: true, value, at: ctx.now().getTime() };
      });
    } catch (error) {
      const code = error instanceof FinalFailure ? error.code : errorCodeOf(error);
      return this.#write(async ctx => {
        await stepEnded(ctx, this.run, index, 'failed', { code });
        return { ok: false, code, final: isFinal(error), at: ctx.now().getTime() };
      });
    }
  }

  async poll<T extends object>(name: string, ask: Work<T | null>, { everySeconds, until, orFail }: Poll): Promise<T | null> {
    const index = ++this.#steps;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#once(`${name}:${attempt}`, () =>
        this.#asked(index, name, ask, value => (value === null ? 'running' : 'succeeded')),
      );
      if (outcome.ok && outcome.value !== null) return outcome.value;
      if (!outcome.ok && outcome.final) throw new StepFailed(name, outcome.code);
      if (outcome.at >= until.getTime()) return this.#unanswered(index, name, orFail ?? null);
      await this.#sleep(name, new Date(Math.min(outcome.at + everySeconds * 1000, until.getTime())));
    }
  }

  async #unanswered(index: number, name: string, code: string | null): Promise<null> {
    const status = code === null ? 'succeeded' : 'failed';
    const digest = code === null ? digestOf(null) : null;
    await this.#once(`${name}:over`, () =>
      this.#write(ctx => stepEnded(ctx, this.run, index, status, { digest, code, functionId: this.#functionId })),
    );
    if (code !== null) throw new StepFailed(name, code);
    return null;
  }

  /** Waits for the message of a topic, which `begin` prepares in the transaction that notes the wait. */
  async #wait(wait: Omit<WaitRow, 'topic'>, begin?: (ctx: Context, topic: string) => Promise<unknown>): Promise<Message | null> {
    const topic = `w${++this.#waits}`;
    await this.#once(`wait:${topic}`, () =>
      this.#write(async ctx => {
        await begin?.(ctx, topic);
        await beginWait(ctx, this.run, { ...wait, topic });
      }),
    );
    return this.engine.receive<Message>(topic);
  }

  async #sleep(name: string, until: Date): Promise<void> {
    await this.#wait({ kind: 'timer', name, until });
  }

  sleepUntil(at: Date): Promise<void> {
    return this.#sleep('time', at);
  }

  async waitEvent(name: string, key: string | null, until: Date): Promise<Record<string, unknown> | null> {
    const message = await this.#wait({ kind: 'event', name, until }, async (ctx, topic) => {
      await awaitMessage(ctx, this.run, topic, name, key);
      await sendPastEvent(ctx, this.run, topic, name, key);
    });
    return message?.payload ?? null;
  }

  async waitTask(spec: TaskSpec): Promise<Record<string, unknown> | null> {
    const message = await this.#wait({ kind: 'task', name: spec.title, until: spec.dueAt }, (ctx, topic) =>
      openTask(ctx, this.run, topic, topic, spec),
    );
    return message?.payload ?? null;
  }

  async openTask(spec: TaskSpec): Promise<void> {
    const at = `t${++this.#tasks}`;
    await this.#once(`task:${at}`, () => this.#write(ctx => openTask(ctx, this.run, null, at, spec)));
  }

  async child(definition: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
    const index = ++this.#steps;
    const code = this.definitions.get(definition);
    if (!code) throw new StepFailed(definition, 'unknown_definition');
    const message = await this.#wait({ kind: 'child', name: definition, until: null }, async (ctx, topic) => {
      const functionId = this.#functionId;
      const childRunId = await startChild(ctx, code, `${this.runId}:${index}`, this.runId, input);
      await stepBegun(ctx, this.run, { index, name: definition, functionId, childRunId });
      await awaitMessage(ctx, this.run, topic, RUN_ENDED, childRunId);
      await sendIfEnded(ctx, childRunId);
    });
    return this.#ofChild(index, definition, message?.payload ?? {});
  }

  async #ofChild(index: number, name: string, end: Record<string, unknown>): Promise<Record<string, unknown>> {
    const good = end.status === 'succeeded';
    const code = good ? null : String(end.error_code ?? end.status);
    const digest = good ? digestOf(end.output) : null;
    await this.#once(`child:${index}`, () =>
      this.#write(ctx => stepEnded(ctx, this.run, index, good ? 'succeeded' : 'failed', { digest, code, functionId: this.#functionId })),
    );
    if (code !== null) throw new StepFailed(name, code);
    return (end.output ?? {}) as Record<string, unknown>;
  }

  patch(id: string): boolean {
    const since = this.definition.patches?.[id];
    if (since === undefined) throw new Error(`${this.definition.key} has no patch ${id}`);
    return this.run.definitionVersion >= since;
  }

  now(): Promise<Date> {
    return this.#once('now', async () => (await this.host.read(async ctx => ctx.now())).toISOString()).then(text => new Date(text));
  }

  uuid(): Promise<string> {
    return this.#once('uuid', async () => newId());
  }

  async onCancel(name: string, args: Record<string, unknown>): Promise<void> {
    const index = ++this.#compensations;
    await this.#once(`onCancel:${name}`, () =>
      this.#write(ctx =>
        ctx.sql('insert into workflow.compensation (run_id, idx, name, args) values ($1, $2, $3, $4::jsonb) on conflict do nothing', [
          this.runId,
          index,
          name,
          JSON.stringify(args),
        ]),
      ),
    );
  }
}
