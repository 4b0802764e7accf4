import { execute, parse, type GraphQLSchema } from 'graphql';
import type { Generated } from './operations.js';
import { COMPUTED, type HashSubgraph, type Source } from './world.js';

type Read = (source: Source, args: object) => unknown;

/** The fields of a computed field's `@requires`. */
const REQUIRED: Readonly<Record<string, (read: (field: string, args?: object) => any, source: Source) => object>> = {
  'Product.shipping': read => ({ price: read('price', { currency: 'EUR' }) }),
  'Product.volume': read => ({ dims: read('dims') }),
  'Brand.greeting': read => ({ label: read('label') }),
};

/** The resolver of a field of the API, from whichever subgraph has it: of the type itself, or of the interface as an object. */
function reader(sources: readonly HashSubgraph[], type: string, field: string): Read {
  const own = sources.map(source => source.own(type, field)).find(Boolean);
  if (own) return own;
  const behind = sources.map(source => source.own('Media', field)).find(Boolean);
  if (!behind) throw new Error(`nobody has ${type}.${field}`);
  return (source, args) => behind({ ...source, __typename: 'Media' }, args);
}

/**
 * The answer of a single service with the subgraphs' values: graphql-js on the API schema. Where the two executors differ, it decides
 * which is right. It has no troubles.
 */
export async function answerOfWhole(
  apiSchema: GraphQLSchema,
  sources: readonly HashSubgraph[],
  { source: text, variables }: Generated,
): Promise<unknown> {
  const { data } = await execute({
    schema: apiSchema,
    document: parse(text),
    variableValues: variables,
    typeResolver: (value: any) => value.identity.split('/')[0],
    fieldResolver: (parent: Source | undefined, args: object, _context, { parentType, fieldName }) => {
      const source = { ...(parent ?? { identity: `${parentType.name}/0` }), __typename: parentType.name };
      const read = (field: string, given: object = {}) => reader(sources, parentType.name, field)(source, given);
      const computed = COMPUTED[`${parentType.name}.${fieldName}`];
      if (!computed) return read(fieldName, args);
      const required = REQUIRED[`${parentType.name}.${fieldName}`]!(read, source) as { dims?: Source };
      if (required.dims)
        required.dims = Object.fromEntries(
          ['height', 'width'].map(name => [name, reader(sources, 'Dims', name)(required.dims!, {})]),
        ) as never;
      return computed(required);
    },
  });
  return data;
}
