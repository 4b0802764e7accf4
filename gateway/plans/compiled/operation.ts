import type { FetchNode } from '@apollo/query-planner';
import {
  GraphQLError,
  Kind,
  visit,
  type DirectiveNode,
  type DocumentNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { RequestInfo } from '../../../runtime/request/request.js';
import { Lru } from '../lru.js';
import { Calls } from './calls.js';
import { decided } from './conditions.js';
import { asksTheSame } from './same-selections.js';
import { FetchDocuments } from './fetch-documents.js';
import { gatheringServices } from './gathering.js';
import { MergedDocuments } from './merged-documents.js';
import type { PlanChecks } from './plan-checks.js';
import type { PlannedOperation, Planner } from './planner.js';
import { ResponseCompiler } from './response.js';
import { clientMessage, clientPath, type ResponseNames } from './response-names.js';
import type { Run, Step } from './run.js';
import type { Row, Variables } from './rows.js';
import { conditionVariables, isCondition, Selections, type Conditions } from './selections.js';
import { compileNode, UnknownPlan } from './steps.js';
import type { Subgraph } from './subgraph.js';
import { variableErrors } from './variables.js';
import { NULL, type Write, type Writing } from './writing.js';

/** Combinations of values of the conditions that are kept of one operation; most have one or two. */
const MAX_VARIANTS = 16;

/** What the planner made of a document. */
interface Planned {
  readonly operation: PlannedOperation;
  /** Null where no subgraph is asked. */
  readonly step: Step | null;
  /** The fetch that is the whole plan. */
  readonly whole: FetchNode | null;
}

/** One combination of values of the conditions. */
interface Variant {
  readonly planned: Planned;
  readonly write: Write;
  /** Response names of the root fields that subgraphs answer. */
  readonly roots: readonly string[];
  /** Whether the plan's only fetch answers in the client's own text. */
  readonly handsOn: boolean;
}

/** An answer whose data is JSON text; objects are made from it at the first use of `data`. */
export class Answer {
  #data: Row | null | undefined;

  constructor(
    readonly text: string,
    readonly errors: readonly GraphQLError[],
    readonly extensions?: Readonly<Record<string, unknown>>,
  ) {}

  get data(): Row | null {
    return (this.#data ??= JSON.parse(this.text) as Row | null);
  }
}

export interface CompileSetting {
  planner: Planner;
  /** The part of the supergraph that clients may see. */
  apiSchema: GraphQLSchema;
  names: ResponseNames;
  checks: PlanChecks;
  supergraph: GraphQLSchema;
  subgraph(service: string): Subgraph;
}

const booleanDefaults = ({ variableDefinitions }: OperationDefinitionNode): Conditions =>
  Object.fromEntries(
    (variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
      defaultValue?.kind === Kind.BOOLEAN ? [[variable.name.value, defaultValue.value]] : [],
    ),
  );

function directivesOf(document: DocumentNode): DirectiveNode[] {
  const found: DirectiveNode[] = [];
  visit(document, { Directive: node => void found.push(node) });
  return found;
}

function operationOf({ definitions }: DocumentNode, name: string | null): OperationDefinitionNode | undefined {
  const operations = definitions.filter(one => one.kind === Kind.OPERATION_DEFINITION);
  return name === null ? (operations.length === 1 ? operations[0] : undefined) : operations.find(one => one.name?.value === name);
}

/** One operation of one document, planned and compiled. Holds no state of requests. */
export class CompiledOperation {
  readonly #document: DocumentNode;
  readonly #operation: OperationDefinitionNode;
  readonly #names: ReadonlyMap<string, string>;
  /** The plan for all values of the conditions; null where each combination has its own. */
  readonly #planned: Planned | null;
  readonly #defaults: Conditions;
  readonly #conditions: readonly string[];
  readonly #documents: FetchDocuments;
  readonly #merged = new MergedDocuments();
  /** One for each combination of values of the conditions; bounded, because n conditions have 2^n combinations. */
  readonly #variants = new Lru<Variant>(MAX_VARIANTS, MAX_VARIANTS);

  /** @throws UnknownPlan when the stock executor has to run it; GraphQLError when it cannot be planned. */
  constructor(
    document: DocumentNode,
    operationName: string | null,
    private readonly setting: CompileSetting,
  ) {
    const renamed = setting.names.rename(document);
    const directives = directivesOf(renamed.document);
    const operation = operationOf(renamed.document, operationName);
    if (!operation) throw new UnknownPlan('no operation, or one of several');
    this.#documents = new FetchDocuments(setting.subgraph);
    [this.#document, this.#names, this.#operation] = [renamed.document, renamed.names, operation];
    this.#defaults = booleanDefaults(operation);
    this.#conditions = conditionVariables(directives);
    // under @skip and @include a plan may rely on the client's selection of a required field, whose response name or arguments are others
    const meets = renamed.names.size > 0 || setting.checks.hasConflict(renamed.document, operation);
    const decidesFirst = meets && directives.some(isCondition);
    if (decidesFirst) this.#compilePlan(renamed.document); // what is unknown in a part of the document is unknown in the whole
    this.#planned = decidesFirst ? null : this.#plan(renamed.document);
  }

  /** @throws UnknownPlan; GraphQLError when there is no plan, or a wrong one. */
  #plan(document: DocumentNode): Planned {
    this.setting.checks.checkOperation(document, operationOf(document, this.#operation.name?.value ?? null)!);
    return this.#compilePlan(document);
  }

  #compilePlan(document: DocumentNode): Planned {
    const { planner, checks, supergraph: schema } = this.setting;
    const { planned, node } = planner.plan(document, this.#operation.name?.value);
    if (!node) return { operation: planned, step: null, whole: null };
    const [documents, gathering, defaults] = [this.#documents, gatheringServices(node), this.#defaults];
    const whole = node.kind === 'Fetch' ? node : null;
    const setting = { schema, checks, documents, gathering, defaults, isWhole: whole !== null };
    return { operation: planned, step: compileNode(node, [], setting), whole };
  }

  async run(variables: Variables, request: RequestInfo): Promise<Answer> {
    const refused = variableErrors(this.setting.apiSchema, this.#operation, variables);
    if (refused.length) return new Answer(NULL, refused);
    const variant = this.#variant(variables);
    if (variant instanceof GraphQLError) return new Answer(NULL, [variant]);
    const calls = new Calls(this.#merged, request);
    const { handsOn } = variant;
    const run: Run = { data: {}, text: null, handsOn, variables, request, calls, errors: [], shared: null };
    await variant.planned.step?.(run);
    return this.#answer(run, variant);
  }

  #answer(run: Run, { planned, write, roots }: Variant): Answer {
    if (run.text !== null) return new Answer(run.text, []);
    const writing: Writing = { faults: 0, broken: false, texts: run.shared ? new Map() : null };
    if (run.errors.length === 0) addUnanswered(roots, run);
    const text = write(run.data, writing);
    if (writing.broken || (writing.faults > 0 && run.errors.length === 0)) return this.#explain(run, text, planned.operation);
    return new Answer(
      text,
      run.errors.map(error => this.#asClient(error)),
    );
  }

  /** A subgraph sent values that do not fit their types, and no error: the stock executor's shaping finds their paths. Slow, but rare. */
  #explain(run: Run, text: string, operation: PlannedOperation): Answer {
    try {
      const { errors } = this.setting.planner.shape(operation, run.data, run.variables);
      const valueCompletion = errors.map(error => this.#asClient(error));
      return new Answer(text, run.errors, run.errors.length === 0 && valueCompletion.length > 0 ? { valueCompletion } : undefined);
    } catch (error) {
      return new Answer(NULL, [new GraphQLError((error as Error).message, { originalError: error as Error })]);
    }
  }

  #asClient(error: GraphQLError): GraphQLError {
    if (this.#names.size === 0 || !error.path) return error;
    return new GraphQLError(clientMessage(error.message, this.#names), {
      path: clientPath(error.path, this.#names),
      originalError: error.originalError,
      extensions: error.extensions,
    });
  }

  /** The error of a combination for which there is no plan. */
  #variant(variables: Variables): Variant | GraphQLError {
    const key = this.#conditions.map(name => (this.#condition(name, variables) ? '1' : '0')).join('');
    const known = this.#variants.get(key);
    if (known) return known;
    try {
      const variant = this.#compile(variables);
      this.#variants.set(key, variant, 1);
      return variant;
    } catch (error) {
      if (error instanceof GraphQLError) return error;
      throw error;
    }
  }

  #condition(name: string, variables: Variables): boolean {
    return Boolean(variables[name] ?? this.#defaults[name]);
  }

  #compile(variables: Variables): Variant {
    const { apiSchema } = this.setting;
    const conditions = Object.fromEntries(this.#conditions.map(name => [name, this.#condition(name, variables)]));
    const root = apiSchema.getRootType(this.#operation.operation)!;
    const selections = new Selections(apiSchema, this.#document, conditions);
    const sets = [this.#operation.selectionSet];
    const planned = this.#planned ?? this.#plan(decided(this.#document, conditions));
    const fields = [...selections.collect(sets, root.name)].filter(([, nodes]) => !nodes[0]!.name.value.startsWith('__'));
    return {
      planned,
      write: new ResponseCompiler(apiSchema, selections, this.#names).composite(root, sets),
      roots: fields.map(([name]) => name),
      handsOn: this.#handsOn(planned, selections, root),
    };
  }

  /** Names that were changed, and conditions, which the planner may place elsewhere, are left to the writer. */
  #handsOn({ whole }: Planned, selections: Selections, root: GraphQLObjectType): boolean {
    if (!whole || whole.outputRewrites?.length || this.#names.size > 0 || this.#conditions.length > 0) return false;
    return asksTheSame(this.setting.apiSchema, root, { selections, sets: [this.#operation.selectionSet] }, whole.operation);
  }
}

/** A root field for which the plan has no fetch is an error: its null would be taken for an answer. */
function addUnanswered(roots: readonly string[], { data, errors }: Run): void {
  for (const name of roots)
    if (data[name] === undefined)
      errors.push(new GraphQLError('No service answers this field', { path: [name], originalError: new Error(`no plan for ${name}`) }));
}
