import {
  execute,
  Kind,
  OperationTypeNode,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLSchema,
} from 'graphql';
import { Compiler } from './compiler.js';
import { compileObject, executeSerially } from './objects.js';
import { FieldErrors, type Run, type Source, type Variables } from './run.js';
import { coercionOf, type Coerce } from './variables.js';
import { Selections, type Outline } from './selections.js';

export type Asked = Pick<ExecutionArgs, 'schema' | 'document' | 'variableValues' | 'operationName' | 'contextValue'>;

type Data = Record<string, unknown> | null;
type Execute = (run: Run) => Data | Promise<Data>;

/** Compiled variants of one document, by the values of its conditions; most have one or two. */
const MAX_VARIANTS = 4;

const answerOf = (data: Data, errors: readonly GraphQLError[]): ExecutionResult => (errors.length ? { errors, data } : { data });

function answerTo(run: Run, execution: Execute): ExecutionResult | Promise<ExecutionResult> {
  const ended = (data: Data) => answerOf(data, run.errors.all);
  const without = (error: unknown) => {
    run.errors.add(error as GraphQLError, undefined);
    return ended(null);
  };
  try {
    const data = execution(run);
    return data instanceof Promise ? data.then(ended, without) : ended(data);
  } catch (error) {
    return without(error);
  }
}

/** The operation of a document, compiled for each set of values of its conditions at the first use. */
export class CompiledOperation {
  readonly #variants = new Map<string, Execute>();
  readonly #conditions: readonly string[];
  readonly #coerce: Coerce;

  constructor(
    private readonly source: Source,
    outline: Outline,
  ) {
    this.#conditions = outline.conditions;
    this.#coerce = coercionOf(source);
  }

  execute(asked: Asked): ExecutionResult | Promise<ExecutionResult> {
    const { coerced, errors } = this.#coerce(asked.variableValues ?? {});
    if (!coerced) return { errors: errors! };
    const execution = this.#variant(coerced);
    if (!execution) return execute(asked) as ExecutionResult | Promise<ExecutionResult>;
    return answerTo({ context: asked.contextValue, variables: coerced, errors: new FieldErrors() }, execution);
  }

  /** Undefined when a condition is not a boolean, or when there are more variants than are kept. */
  #variant(variables: Variables): Execute | undefined {
    if (!this.#conditions.every(name => typeof variables[name] === 'boolean')) return undefined;
    const key = this.#conditions.map(name => (variables[name] ? '1' : '0')).join('');
    let variant = this.#variants.get(key);
    if (!variant && this.#variants.size < MAX_VARIANTS) this.#variants.set(key, (variant = this.#compile(variables)));
    return variant;
  }

  #compile(variables: Variables): Execute {
    const { schema, operation } = this.source;
    const conditions = Object.fromEntries(this.#conditions.map(name => [name, variables[name]]));
    const root = schema.getRootType(operation.operation)!;
    const fields = new Compiler(this.source, new Selections(this.source, conditions)).fieldsOf(root, [operation]);
    if (operation.operation === OperationTypeNode.MUTATION) return run => executeSerially(run, fields);
    const object = compileObject(fields);
    return run => object(run, undefined, undefined);
  }
}

/** The part of a document that is compiled; null for a document that graphql-js has to run: several operations, a subscription. */
export function sourceOf(schema: GraphQLSchema, { definitions }: DocumentNode): Source | null {
  const operations = definitions.filter(one => one.kind === Kind.OPERATION_DEFINITION);
  const [operation] = operations;
  if (operations.length !== 1 || operation!.operation === OperationTypeNode.SUBSCRIPTION) return null;
  if (!schema.getRootType(operation!.operation)) return null;
  const fragments = Object.create(null) as Record<string, FragmentDefinitionNode>;
  for (const one of definitions) if (one.kind === Kind.FRAGMENT_DEFINITION) fragments[one.name.value] = one;
  return { schema, operation: operation!, fragments };
}
