import {
  getNullableType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import { leafWriter } from './leaves.js';
import { compileObject, type Member } from './object-writer.js';
import type { Selections } from './selections.js';
import { NULL, type Write, type Writing } from './writing.js';

/**
 * Compiles the writer from merged data to the answer's JSON text, for one operation and one set of values of its conditions. Selections are
 * flattened for each runtime type, nulls propagate to nullable parents, leaves are checked. Only what the API schema has is written, so an
 * `@inaccessible` field, type or enum value cannot leak.
 */
export class ResponseCompiler {
  constructor(
    private readonly schema: GraphQLSchema,
    private readonly selections: Selections,
    /** Response name in the data -> the client's name, where they differ. */
    private readonly names: ReadonlyMap<string, string>,
  ) {}

  /** Compiles a writer of objects of the declared type, and of null, for each runtime type at its first use. */
  composite(declared: GraphQLCompositeType, sets: readonly SelectionSetNode[]): Write {
    const writers = new Map<unknown, Write>();
    const writerOf = (name: unknown): Write => {
      let write = writers.get(name);
      if (!write) writers.set(name, (write = this.#object(declared, name, sets)));
      return write;
    };
    return (value, writing) => {
      if (value === null || value === undefined) return NULL;
      if (typeof value !== 'object') return broken(writing);
      const write = writerOf(value.__typename);
      return writing.texts === null ? write(value, writing) : once(write, value, writing);
    };
  }

  #object(declared: GraphQLCompositeType, name: unknown, sets: readonly SelectionSetNode[]): Write {
    const type = typeof name === 'string' ? this.schema.getType(name) : declared;
    if (!isCompositeType(type)) return unknownType;
    const fields = [...this.selections.collect(sets, type.name)];
    return compileObject(fields.map(([property, nodes]) => this.#member(type, property, nodes)));
  }

  #member(type: GraphQLCompositeType, property: string, nodes: readonly FieldNode[]): Member {
    const [key, name] = [this.names.get(property) ?? property, nodes[0]!.name.value];
    if (name === '__typename') return { key, property, constant: isObjectType(type) ? JSON.stringify(type.name) : NULL, nonNull: true };
    const field = (type as { getFields(): Record<string, { type: GraphQLOutputType }> }).getFields()[name]!;
    return { key, property, nonNull: isNonNullType(field.type), write: this.#value(field.type, nodes) };
  }

  #value(type: GraphQLOutputType, nodes: readonly FieldNode[]): Write {
    const nullable = getNullableType(type);
    if (isListType(nullable)) return listWriter(this.#value(nullable.ofType as GraphQLOutputType, nodes), isNonNullType(nullable.ofType));
    return isCompositeType(nullable)
      ? this.composite(
          nullable,
          nodes.map(node => node.selectionSet!),
        )
      : leafWriter(nullable as never);
  }
}

function broken(writing: Writing): string {
  writing.broken = true;
  return NULL;
}

const unknownType: Write = (_value, writing) => {
  writing.faults++;
  return NULL;
};

/** Writes an object that has several paths once. */
function once(write: Write, value: object, writing: Writing): string {
  let texts = writing.texts!.get(write);
  if (!texts) writing.texts!.set(write, (texts = new Map()));
  let text = texts.get(value);
  if (text === undefined) texts.set(value, (text = write(value, writing)));
  return text;
}

function listWriter(write: Write, nonNull: boolean): Write {
  return (value, writing) => {
    if (value === null || value === undefined) return NULL;
    if (!Array.isArray(value)) return broken(writing);
    let text = '[';
    for (let at = 0; at < value.length; at++) {
      const element = write(value[at], writing);
      if (nonNull && element === NULL) return unknownType(value, writing);
      text += at === 0 ? element : `,${element}`;
    }
    return `${text}]`;
  };
}
