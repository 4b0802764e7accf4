import { assertValidSchema, execute, Kind, type DocumentNode, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { CompiledOperation, sourceOf, type Asked } from './operation.js';
import { outlineOf } from './selections.js';

export type Executor = (asked: Asked) => ExecutionResult | Promise<ExecutionResult>;

/** graphql-js's own executor. */
export const stockExecutor: Executor = asked => execute(asked) as ExecutionResult | Promise<ExecutionResult>;

/** A compiled field takes 1-3 KB, so these are 60 MB or less. */
const MAX_FIELDS = 30_000;
const MAX_FIELDS_OF_ONE = 500;

interface Entry {
  schema: GraphQLSchema;
  /** Null: graphql-js runs the document. */
  operation: CompiledOperation | null;
  fieldCount: number;
}

function entryOf(schema: GraphQLSchema, document: DocumentNode): Entry {
  assertValidSchema(schema);
  const [outline, source] = [outlineOf(document), sourceOf(schema, document)];
  const isCompilable = outline.isCompilable && outline.fieldCount <= MAX_FIELDS_OF_ONE;
  const operation = source && isCompilable ? new CompiledOperation(source, outline) : null;
  return { schema, operation, fieldCount: operation ? outline.fieldCount : 1 };
}

const isNamed = ({ definitions }: DocumentNode, name: string): boolean =>
  definitions.some(one => one.kind === Kind.OPERATION_DEFINITION && one.name?.value === name);

const isUsual = ({ document, operationName, variableValues }: Asked): boolean =>
  (operationName == null || isNamed(document, operationName)) && (variableValues == null || typeof variableValues === 'object');

/** Compiled operations by document. The least recently used is dropped first. */
class CompiledOperations {
  readonly #entries = new Map<DocumentNode, Entry>();
  readonly #uses = new WeakMap<DocumentNode, number>();
  #fields = 0;

  /** @param warmUp runs of a document by graphql-js before it is compiled: compiling takes as long as about 50 runs. */
  constructor(private readonly warmUp: number) {}

  execute(asked: Asked): ExecutionResult | Promise<ExecutionResult> {
    const operation = isUsual(asked) ? this.#operationOf(asked) : null;
    return operation ? operation.execute(asked) : stockExecutor(asked);
  }

  #operationOf({ schema, document }: Asked): CompiledOperation | null {
    const known = this.#entries.get(document);
    if (known?.schema === schema) return this.#keep(document, known).operation;
    const uses = this.#uses.get(document) ?? 0;
    this.#uses.set(document, uses + 1);
    return uses < this.warmUp ? null : this.#keep(document, entryOf(schema, document)).operation;
  }

  #keep(document: DocumentNode, entry: Entry): Entry {
    this.#drop(document);
    this.#entries.set(document, entry);
    this.#fields += entry.fieldCount;
    while (this.#fields > MAX_FIELDS) this.#drop(this.#entries.keys().next().value!);
    return entry;
  }

  #drop(document: DocumentNode): void {
    this.#fields -= this.#entries.get(document)?.fieldCount ?? 0;
    this.#entries.delete(document);
  }
}

/**
 * Answers as graphql-js does, by functions compiled from documents that come again as the same object. Documents must be valid. Messages about
 * wrong results of resolvers are shorter than those of graphql-js, which contain the values.
 */
export function compiledExecutor(warmUp: number): Executor {
  const operations = new CompiledOperations(warmUp);
  return asked => operations.execute(asked);
}

const WARM_UP = 8;

/** One for all services of the process, because the limits are of the process. `eager` compiles at the first use, for tests. */
const EXECUTORS = { stock: stockExecutor, compiled: compiledExecutor(WARM_UP), eager: compiledExecutor(0) };

type ExecutorName = keyof typeof EXECUTORS;

export const executorOf = (name: ExecutorName): Executor => EXECUTORS[name];
