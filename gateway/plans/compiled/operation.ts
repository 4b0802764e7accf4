import {
  GraphQLError,
  Kind,
  visit,
  type DirectiveNode,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { RequestInfo } from '../../../runtime/request/request.js';
import { Lru } from '../lru.js';
import type { PlannedOperation, Planner } from './planner.js';
import { ResponseCompiler } from './response.js';
import { clientMessage, clientPath, type ResponseNames } from './response-names.js';
import type { Row, Run, Step, Variables } from './run.js';
import { conditionVariables, isCondition, Selections, type Conditions } from './selections.js';
import { compileNode, UnknownPlan } from './steps.js';
import type { Subgraph } from './subgraph.js';
import { variableErrors } from './variables.js';
import { NULL, type Write, type Writing } from './writing.js';

/** Writers kept of one operation; most have one or two. */
const MAX_WRITERS = 16;

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
  readonly #step: Step | null;
  readonly #planned: PlannedOperation;
  readonly #defaults: Conditions;
  readonly #conditions: readonly string[];
  /** One writer for each combination of values of the conditions; bounded, because n conditions have 2^n combinations. */
  readonly #writers = new Lru<Write>(MAX_WRITERS, MAX_WRITERS);

  /** @throws UnknownPlan when the stock executor has to run it; GraphQLError when it cannot be planned. */
  constructor(
    document: DocumentNode,
    operationName: string | null,
    private readonly setting: CompileSetting,
  ) {
    const renamed = setting.names.rename(document);
    const directives = directivesOf(renamed.document);
    // under @skip and @include a plan may rely on the client's selection of a required field, whose response name is changed here
    if (renamed.names.size > 0 && directives.some(isCondition)) throw new UnknownPlan('response names that meet a plan under conditions');
    const operation = operationOf(renamed.document, operationName);
    if (!operation) throw new UnknownPlan('no operation, or one of several');
    [this.#document, this.#names, this.#operation] = [renamed.document, renamed.names, operation];
    this.#defaults = booleanDefaults(operation);
    this.#conditions = conditionVariables(directives);
    const { planned, node } = setting.planner.plan(renamed.document, operation.name?.value);
    this.#planned = planned;
    this.#step = node ? compileNode(node, [], { schema: setting.supergraph, subgraph: setting.subgraph, defaults: this.#defaults }) : null;
  }

  async run(variables: Variables, request: RequestInfo): Promise<Answer> {
    const refused = variableErrors(this.setting.apiSchema, this.#operation, variables);
    if (refused.length) return new Answer(NULL, refused);
    const run: Run = { data: {}, variables, request, errors: [], shared: null };
    await this.#step?.(run);
    return this.#answer(run);
  }

  #answer(run: Run): Answer {
    const writing: Writing = { faults: 0, broken: false, texts: run.shared ? new Map() : null };
    const text = this.#writer(run.variables)(run.data, writing);
    if (writing.broken || (writing.faults > 0 && run.errors.length === 0)) return this.#explain(run, text);
    return new Answer(
      text,
      run.errors.map(error => this.#asClient(error)),
    );
  }

  /** A subgraph sent values that do not fit their types, and no error: the stock executor's shaping finds their paths. Slow, but rare. */
  #explain(run: Run, text: string): Answer {
    try {
      const { errors } = this.setting.planner.shape(this.#planned, run.data, run.variables);
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

  #writer(variables: Variables): Write {
    const key = this.#conditions.map(name => (this.#condition(name, variables) ? '1' : '0')).join('');
    let write = this.#writers.get(key);
    if (!write) this.#writers.set(key, (write = this.#compileWriter(variables)), 1);
    return write;
  }

  #condition(name: string, variables: Variables): boolean {
    return Boolean(variables[name] ?? this.#defaults[name]);
  }

  #compileWriter(variables: Variables): Write {
    const { apiSchema } = this.setting;
    const conditions = Object.fromEntries(this.#conditions.map(name => [name, this.#condition(name, variables)]));
    const root = apiSchema.getRootType(this.#operation.operation)!;
    return new ResponseCompiler(apiSchema, new Selections(apiSchema, this.#document, conditions), this.#names).composite(root, [
      this.#operation.selectionSet,
    ]);
  }
}
