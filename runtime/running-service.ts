import type { MikroORM, SqlEntityManager } from '@mikro-orm/postgresql';
import {
  GraphQLError,
  Kind,
  OperationTypeNode,
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLSchema,
} from 'graphql';
import type { Transport } from '../events/transport/port.js';
import type { Slug } from '../events/slugs.js';
import { ruleOnNode } from './access/rules.js';
import { systemCaller } from './request/caller.js';
import { fixedClock, systemClock, type Timer } from './time/clock.js';
import type { Config } from './config.js';
import { currentSignal, endedBy } from './request/cancellation.js';
import { Context, type Fault, type ServiceHost } from './request/context.js';
import type { Sealer } from './data/crypto.js';
import { Problem } from './request/errors.js';
import { withoutValues } from './request/graphql-messages.js';
import type { Federation } from './federation/federation.js';
import type { FlagClient } from './flags/client.js';
import { executorOf, type Executor } from './execution/executor.js';
import { enforce } from './access/guard.js';
import { loggedError, type Logger } from './observe/log.js';
import { internalRequest, type RequestInfo } from './request/request.js';
import type { Revocations } from './access/revocations.js';
import type { ReferenceLoader, ServiceDeclaration } from './service.js';
import type { Metrics } from './observe/metrics.js';
import { traced } from './observe/tracing.js';
import { isExhausted } from './data/database.js';
import { completed } from './data/two-phase.js';
import { databaseProblem, inTransaction, readManualClock, refuseSecondConnection } from './data/transaction.js';

/** What the process gives to every service that it hosts. */
export interface HostParts {
  config: Config;
  /** Of this service, for engines that bring connections of their own. */
  databaseUrl: string;
  /** Opens the ORM, at its first use. */
  orm: () => MikroORM;
  /** Makes the executable schema, at its first use. */
  schema: () => GraphQLSchema;
  flags: FlagClient;
  federation: Federation;
  revocations: Revocations;
  sealer: Sealer;
  transport: Transport;
  metrics: Metrics;
  log: Logger;
}

export interface Operation {
  document: DocumentNode;
  variables?: Readonly<Record<string, unknown>> | null;
  operationName?: string | null;
}

/** A running service: its declaration with database, schema and the process's parts. */
export class RunningService implements ServiceHost {
  readonly slug: Slug;
  readonly config: Config;
  readonly databaseUrl: string;
  readonly flags: FlagClient;
  readonly federation: Federation;
  readonly revocations: Revocations;
  readonly sealer: Sealer;
  readonly transport: Transport;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly timers: readonly Timer<Context>[];
  readonly references: Readonly<Record<string, ReferenceLoader>>;
  readonly faults = new Map<string, Fault>();
  readonly #run: Executor;
  readonly #parts: Pick<HostParts, 'orm' | 'schema'>;
  #orm: MikroORM | undefined;
  #schema: GraphQLSchema | undefined;

  constructor(
    readonly declaration: ServiceDeclaration,
    parts: HostParts,
  ) {
    this.slug = declaration.slug;
    this.timers = declaration.timers ?? [];
    this.references = declaration.references ?? {};
    this.config = parts.config;
    this.#run = executorOf(parts.config.subgraphExecutor);
    this.databaseUrl = parts.databaseUrl;
    this.#parts = parts;
    this.flags = parts.flags;
    this.federation = parts.federation;
    this.revocations = parts.revocations;
    this.sealer = parts.sealer;
    this.transport = parts.transport;
    this.metrics = parts.metrics;
    this.log = parts.log.child({ service: declaration.slug });
  }

  /** What MikroORM finds out about 12 tables takes 10 ms on quick cores, so it is opened at the first use, not in a row with 27 others. */
  get orm(): MikroORM {
    return (this.#orm ??= this.#parts.orm());
  }

  /** Made at the first use as well: it was the dearest part of a service's start, 30 ms, and a process that only works is asked nothing. */
  get schema(): GraphQLSchema {
    return (this.#schema ??= this.#parts.schema());
  }

  /** Whether all its connections are in use. */
  get isExhausted(): boolean {
    return this.#orm !== undefined && isExhausted(this.#orm);
  }

  context(request: RequestInfo): Promise<Context> {
    let context = request.contexts.get(this.slug) as Promise<Context> | undefined;
    if (!context) request.contexts.set(this.slug, (context = this.#newContext(request)));
    return context;
  }

  async #newContext(request: RequestInfo): Promise<Context> {
    const context = new Context(this, this.orm.em.fork() as SqlEntityManager, request, systemClock);
    if (!this.config.manualClock) return context;
    const at = await readManualClock(context).catch(error => Promise.reject(databaseProblem(error)));
    if (at) context.clock = fixedClock(at);
    return context;
  }

  async transaction<T>(work: (ctx: Context) => Promise<T>, request: RequestInfo = internalRequest(systemCaller(this.slug))): Promise<T> {
    refuseSecondConnection(this);
    request.leavesTrace = true;
    const own: RequestInfo = { ...request, contexts: new Map() };
    const ctx = await this.#newContext(own);
    return inTransaction(ctx, () => work(ctx)).finally(() => (request.isReplayed ||= own.isReplayed));
  }

  async read<T>(work: (ctx: Context) => Promise<T>): Promise<T> {
    refuseSecondConnection(this);
    return work(await this.#newContext(internalRequest(systemCaller(this.slug))));
  }

  /** Answers one operation. Access to its root fields is decided before variables are coerced; unknown errors are logged and masked. */
  execute(operation: Operation, request: RequestInfo): Promise<ExecutionResult> {
    const signal = isMutation(operation) ? null : (request.signal ?? currentSignal()); // what a mutation began at an outside party is to be recorded, whoever listens
    return endedBy(signal, () => this.#traced(operation, request));
  }

  #traced(operation: Operation, request: RequestInfo): Promise<ExecutionResult> {
    return traced(`subgraph ${this.slug}`, { parent: request.traceparent }, () => this.#execute(operation, request));
  }

  async #execute(operation: Operation, request: RequestInfo): Promise<ExecutionResult> {
    try {
      const contextValue = await this.context(request);
      await this.revocations.catchUp(request.caller); // since the token was verified this process may have stood still
      for (const field of rootFields(operation, this.schema)) enforce(field.rule, field.name, contextValue);
      const run = async (): Promise<ExecutionResult> =>
        this.#run({
          schema: this.schema,
          document: operation.document,
          variableValues: operation.variables ?? undefined,
          operationName: operation.operationName ?? undefined,
          contextValue,
        });
      const result = await completed(await run(), run);
      return result.errors ? { ...result, errors: result.errors.map(error => this.#mask(error)) } : result;
    } catch (error) {
      return {
        errors: [this.#mask(error instanceof GraphQLError ? error : new GraphQLError('failed', { originalError: error as Error }))],
      };
    }
  }

  #mask(error: GraphQLError): GraphQLError {
    const cause = error.originalError;
    if (error instanceof Problem || cause instanceof Problem) return error;
    const [{ nodes, path }, signal] = [error, currentSignal()];
    if (cause && signal?.aborted)
      return new GraphQLError((signal.reason as Problem).message, { nodes, path, originalError: signal.reason as Problem });
    const isCoercion = !path && (!cause || (nodes?.length ?? 0) > 0); // of variables; what a scalar threw is the cause, the node is the variable's
    if (isCoercion || isInvalidArgument(cause))
      return new GraphQLError(withoutValues(error.message), { nodes, path, extensions: { code: 'INVALID_REQUEST' } });
    this.log.error({ err: loggedError(cause ?? error), path: path?.join('.') }, 'an operation failed');
    return new GraphQLError('Something went wrong on our side', { nodes, path, extensions: { code: 'INTERNAL' } });
  }

  fault(point: string, match: string): void {
    const fault = this.faults.get(point);
    if (!fault || fault.times <= 0 || (fault.match !== null && fault.match !== match)) return;
    fault.times--;
    throw new Error(`fault injected at ${point}`);
  }
}

/** Whether graphql-js refused a literal of the document, which callers in this process have not validated. */
const isInvalidArgument = (cause: Error | undefined): boolean => cause instanceof GraphQLError && cause.message.startsWith('Argument "');

interface RootField {
  name: string;
  rule: ReturnType<typeof ruleOnNode>;
}

const isMutation = ({ document }: Operation): boolean =>
  document.definitions.some(one => one.kind === Kind.OPERATION_DEFINITION && one.operation === OperationTypeNode.MUTATION);

/** Root fields of a document's operation, found once per document. */
const rootFieldCache = new WeakMap<DocumentNode, RootField[]>();

function rootFields({ document, operationName }: Operation, schema: GraphQLSchema): RootField[] {
  const known = rootFieldCache.get(document);
  if (known) return known;
  const operations = document.definitions.filter(one => one.kind === Kind.OPERATION_DEFINITION);
  const operation = operations.find(one => operationName == null || one.name?.value === operationName) ?? operations[0];
  const type = operation?.operation === OperationTypeNode.MUTATION ? schema.getMutationType() : schema.getQueryType();
  const fields = (operation?.selectionSet.selections ?? []).filter(
    (one): one is FieldNode => one.kind === Kind.FIELD && !one.name.value.startsWith('_'),
  );
  const found = fields
    .map(field => ({ name: field.name.value, node: type?.getFields()[field.name.value]?.astNode }))
    .filter(({ node }) => node);
  const roots = found.map(({ name, node }) => ({ name, rule: ruleOnNode(node) }));
  if (operations.length === 1) rootFieldCache.set(document, roots);
  return roots;
}
