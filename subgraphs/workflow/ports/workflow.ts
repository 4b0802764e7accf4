import type { z } from 'zod';
import type { EventDefinition } from '../../../events/define.js';
import type { Envelope } from '../../../events/consumer.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';

/** Delays between the attempts of a step, seconds; each is a timer of the service's clock. `jitter` spreads them by a fifth. */
export interface Retry {
  delays: readonly number[];
  jitter?: boolean;
}

/** A failure that no other attempt would mend. */
export class FinalFailure extends Error {
  override name = 'FinalFailure';

  constructor(readonly code: string) {
    super(code);
  }
}

/** A step has spent its attempts, or a child run has failed. */
export class StepFailed extends Error {
  override name = 'StepFailed';

  constructor(
    readonly step: string,
    readonly code: string,
  ) {
    super(`${step}: ${code}`);
  }
}

/** What a step is given: it may do anything, once; the key goes with every operation that it calls. */
export interface StepContext {
  host: ServiceHost;
  runId: string;
  userId: string | null;
  /** `<run>:<index of the step>`. Source: workflow 7.1. */
  idempotencyKey: string;
  /** Commits the effect with the note that it was had, so that a step which is interrupted before its checkpoint has it once. */
  once(work: (ctx: Context) => Promise<void> | void): Promise<void>;
}

export interface TaskSpec {
  title: string;
  kind: string;
  /** What is to be decided about, so that it can be found in the service that has it. */
  subject: { type: string; id: string };
  assigneeRole?: string;
  assigneeId?: string;
  /** What staff must hold besides, for example `admin:comms:inbox`. */
  permission?: string;
  dueAt: Date;
  /** JSON Schema of the result. */
  form: object;
}

export interface Poll {
  /** Pause between two askings, s. */
  everySeconds: number;
  /** Asked for the last time then. */
  until: Date;
  /** Code of the step's failure when there is no answer until then; default: null is the answer. */
  orFail?: string;
}

/**
 * All that a definition may use. Between steps its code is deterministic: time, ids and the outside come from here only, because a
 * run that was interrupted is executed again from its beginning, and every step that had finished answers what it answered.
 */
export interface Workflow {
  readonly runId: string;
  readonly key: string;
  readonly userId: string | null;
  /** @throws StepFailed when its attempts are spent, or the failure is final. */
  step<T extends object | null>(name: string, work: (step: StepContext) => Promise<T>, retry?: Retry): Promise<T>;
  /** One step that asks until the answer is not null. Null when the time is over; who cannot be asked is asked again. */
  poll<T extends object>(name: string, ask: (step: StepContext) => Promise<T | null>, poll: Poll): Promise<T | null>;
  /** Data of the event, also of one that came since the run began; null when the time is over. */
  waitEvent(name: string, key: string | null, until: Date): Promise<Record<string, unknown> | null>;
  /** The result, or null when nobody has decided in time. */
  waitTask(spec: TaskSpec): Promise<Record<string, unknown> | null>;
  /** A task beside which the run goes on; it ends with the run at the latest. */
  openTask(spec: TaskSpec): Promise<void>;
  sleepUntil(at: Date): Promise<void>;
  /** Runs another definition as a part of this run, once; its output. @throws StepFailed when it does not succeed. */
  child(definition: string, input: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Whether the run began with code that has the patch: older runs go the way that they began. Source: workflow 7.6. */
  patch(id: string): boolean;
  now(): Promise<Date>;
  uuid(): Promise<string>;
  /** What is undone, last first, when the run is cancelled: a name of the definition's compensations. */
  onCancel(name: string, args: Record<string, unknown>): Promise<void>;
}

/** An event that starts a run, once for each key. */
export interface EventTrigger {
  on: EventDefinition;
  /** Key of the run, with paths into the event: `partner:{data.consult_ref}`. */
  keyExpr: string;
  /** Values that fields of the data must have; default: every event starts a run. */
  filter?: Readonly<Record<string, readonly string[]>>;
  /** Ids and codes. */
  input(event: Envelope<any>): Record<string, unknown>;
}

export interface WorkflowDefinitionCode<Input extends z.ZodObject = z.ZodObject> {
  key: string;
  title: string;
  version: number;
  /** The oldest version whose open runs this code can carry on; default: its own only. */
  since?: number;
  /** Patch markers, and the version that brought each. */
  patches?: Readonly<Record<string, number>>;
  /** Service that owns it. */
  owner: string;
  /** Names of its steps, in order. */
  steps: readonly string[];
  /** After so long an open run fails. */
  timeoutDays: number;
  /** Runs that execute at once; those that wait do not count. */
  maxConcurrent: number;
  input: Input;
  schedule?: { cron(host: ServiceHost): string; timeZone: string; misfire: 'once' | 'skip' };
  events?: readonly EventTrigger[];
  compensations?: Readonly<Record<string, (step: StepContext, args: Record<string, unknown>) => Promise<void>>>;
  run(workflow: Workflow, input: z.infer<Input>): Promise<Record<string, unknown>>;
}

/** Keeps the type of a definition's input inside its `run`. */
export const defineWorkflow = <Input extends z.ZodObject>(definition: WorkflowDefinitionCode<Input>): WorkflowDefinitionCode =>
  definition as unknown as WorkflowDefinitionCode;
