import type { EntityClass, FilterQuery, SqlEntityManager } from '@mikro-orm/postgresql';
import { ArgsType, Field, Int, ObjectType, type ClassType } from 'type-graphql';
import { fail, Problem } from './errors.js';
import { Rule } from '../schema/constraints.js';
import { PageInfo } from '../schema/scalars.js';

/** `first` (1..100, default 20) and `after` (an opaque cursor). Source: conventions 4. */
@ArgsType()
export class PageArgs {
  @Rule({ min: 1, max: 100 })
  @Field(() => Int, { defaultValue: 20, description: 'How many, 1 to 100.' })
  first: number = 20;

  @Rule({ maxLength: 512 })
  @Field(() => String, { nullable: true, description: 'Cursor of the previous page.' })
  after?: string | null;
}

export interface Connection<Node> {
  nodes: Node[];
  pageInfo: PageInfo;
}

/** `<Name>Connection { nodes pageInfo }` of a type. */
export function connectionOf<Node extends object>(node: ClassType<Node>, name: string): ClassType<Connection<Node>> {
  @ObjectType(`${name}Connection`)
  class NodeConnection {
    @Field(() => [node])
    nodes: Node[];

    @Field(() => PageInfo)
    pageInfo: PageInfo;
  }
  return NodeConnection;
}

type CursorKey = readonly (string | number | null)[];

const encode = (key: CursorKey): string => Buffer.from(JSON.stringify(key)).toString('base64url');

/** @throws Problem invalid_request for a malformed cursor; never a silent clamp. */
export function decodeCursor(cursor: string, width: number): CursorKey {
  try {
    const key = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown;
    if (Array.isArray(key) && key.length === width) return key as CursorKey;
  } catch {
    // falls through to the refusal
  }
  return fail('invalid_request', 'The cursor is malformed', { errors: [{ pointer: '/after', message: 'is not a cursor of this list' }] });
}

/** Of a value that PostgreSQL cannot read as its type, or that does not fit into it. */
const UNREADABLE = new Set(['22P02', '22003', '22007', '22008', '22009']);

/** A key that the database cannot read was made up: all other arguments were checked. Null for any other error. */
export function cursorProblem({ after }: { after?: unknown }, error: unknown): Problem | null {
  if (typeof after !== 'string' || !UNREADABLE.has(String((error as { code?: unknown }).code))) return null;
  const violation = { pointer: '/after', message: 'is not a cursor of this list' };
  return new Problem('invalid_request', 'The cursor is malformed', { errors: [violation], cause: error });
}

interface Keyset<Row> {
  /** Time column and id: the two that order the list. */
  time: keyof Row & string;
  direction?: 'asc' | 'desc';
}

const instant = (value: unknown): Date => {
  const at = new Date(value as string);
  return Number.isNaN(at.getTime()) ? (decodeCursor('', 2) as never) : at;
};

function beyond<Row>(after: string, { time, direction = 'desc' }: Keyset<Row>): object {
  const [at, id] = decodeCursor(after, 2);
  if (typeof id !== 'string' || !/^[0-9a-f-]{36}$/i.test(id)) decodeCursor('', 2);
  const past = direction === 'desc' ? '$lt' : '$gt';
  return { $or: [{ [time]: { [past]: instant(at) } }, { [time]: instant(at), id: { [past]: id } }] };
}

/**
 * One page of a table by keyset on (time, id), newest first unless `direction` says otherwise: one statement, whatever the depth.
 * Rows need a `timestamptz(3)` column, because microseconds would be lost in the cursor.
 */
export async function page<Row extends { id: string }>(
  em: SqlEntityManager,
  entity: EntityClass<Row>,
  where: FilterQuery<NoInfer<Row>>,
  args: { first: number; after?: string | null },
  keyset: Keyset<NoInfer<Row>>,
): Promise<Connection<Row>> {
  const direction = keyset.direction ?? 'desc';
  const filter = args.after ? { $and: [where, beyond(args.after, keyset)] } : where;
  const rows = await em.find(entity, filter as never, {
    orderBy: { [keyset.time]: direction, id: direction } as never,
    limit: args.first + 1,
  });
  return toConnection(rows as Row[], args.first, row => [(row[keyset.time] as Date).toISOString(), row.id]);
}

/** A page out of `first + 1` rows. */
export function toConnection<Row>(rows: readonly Row[], first: number, keyOf: (row: Row) => CursorKey): Connection<Row> {
  const nodes = rows.slice(0, first);
  const last = nodes.at(-1);
  return { nodes, pageInfo: { endCursor: last === undefined ? null : encode(keyOf(last)), hasNextPage: rows.length > first } };
}
