/**
 * Values of an answer -> their wire form: renamed keys and enum values, connections -> pages. Compiled once per operation from its
 * {@link Shape}; per request only the closures run. Source: conventions 2, 4.
 */
import type { Member, Shape } from './shape.js';
import { toWireEnum, toWireType } from '../runtime/schema/wire-names.js';

export type Convert = (value: unknown) => unknown;

type Row = Readonly<Record<string, unknown>>;

const asIs: Convert = value => value;
const nullable = (convert: Convert): Convert => (convert === asIs ? asIs : value => (value === null ? null : convert(value)));

function enumConverter(names: readonly string[]): Convert {
  const wire = new Map(names.map(name => [name, toWireEnum(name)]));
  return value => wire.get(value as string) ?? value;
}

function listConverter(item: Convert): Convert {
  if (item === asIs) return asIs;
  return value => (value as readonly unknown[]).map(item);
}

function objectConverter(members: readonly Member[]): Convert {
  const keys = members.map(member => member.key);
  const wires = members.map(member => member.wire);
  const converts = members.map(member => converterOf(member.shape));
  return value => {
    const out: Record<string, unknown> = {};
    for (let at = 0; at < keys.length; at++) {
      const one = (value as Row)[keys[at]!];
      if (one !== undefined) out[wires[at]!] = converts[at]!(one);
    }
    return out;
  };
}

interface PageValue {
  readonly nodes: unknown;
  readonly pageInfo: { readonly endCursor?: string | null; readonly hasNextPage?: boolean };
}

/** `next_cursor` is null on the last page, even where the subgraph names an end cursor. */
function pageConverter(nodes: Shape, others: readonly Member[]): Convert {
  const items = converterOf(nodes);
  const rest = objectConverter(others);
  return value => {
    const { pageInfo, nodes: rows } = value as PageValue;
    const next = pageInfo.hasNextPage === false ? null : (pageInfo.endCursor ?? null);
    return { data: items(rows), next_cursor: next, ...(rest(value) as object) };
  };
}

/** A function from a GraphQL value of this shape to its wire form. Keys that are absent stay absent; `JSON` scalars pass untouched. */
function converterOf(shape: Shape): Convert {
  switch (shape.kind) {
    case 'scalar':
      return asIs;
    case 'enum':
      return nullable(enumConverter(shape.type.getValues().map(value => value.name)));
    case 'typename':
      return value => toWireType(value as string);
    case 'list':
      return nullable(listConverter(converterOf(shape.of)));
    case 'page':
      return nullable(pageConverter(shape.nodes, shape.others));
    case 'object':
      return nullable(objectConverter(shape.members));
  }
}

/** The body of an answer: a page or an object as it is, a list as `{"data"}`, without the keys that are to be left out where null. */
export function answerConverter(shape: Shape, omitNull: readonly string[] = []): Convert {
  const convert = converterOf(shape);
  if (shape.kind === 'list') return value => ({ data: convert(value) });
  if (omitNull.length === 0) return convert;
  return value => {
    const answer = convert(value) as Record<string, unknown>;
    for (const key of omitNull) if (answer[key] === null) delete answer[key];
    return answer;
  };
}
