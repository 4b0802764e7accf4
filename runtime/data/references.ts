import type { EntityClass, FilterQuery } from '@mikro-orm/postgresql';
import { mayAccess, ruleOf } from '../access/rules.js';
import type { Context } from '../request/context.js';
import type { ReferenceLoader } from '../service.js';
import { rowsBy, type TextColumn } from './rows.js';

interface Referenced<Row> {
  /** Field of the `@key`; default `id`. */
  key?: TextColumn<Row>;
  /** Rule of the type: a caller whom it refuses finds nothing. */
  readers?: Parameters<typeof ruleOf>[0];
  /** What the rows of this caller have in common, the owner above all. */
  where?: (ctx: Context) => FilterQuery<NoInfer<Row>>;
  /** Told of the rows that are shown, for reads that leave an audit row. */
  onRead?: (ctx: Context, rows: Row[]) => Promise<void>;
}

/** Loader of a type's references by its key: one statement, the owner in the `where`. */
export const rowReferences =
  <Row extends object>(
    entity: EntityClass<Row>,
    { key = 'id' as TextColumn<Row>, readers, where, onRead }: Referenced<Row> = {},
  ): ReferenceLoader =>
  async (ctx, references: readonly Record<string, string>[]) => {
    if (readers && !mayAccess(ruleOf(readers), ctx.caller)) return references.map(() => null);
    const keys = references.map(reference => reference[key]!);
    const found = await rowsBy(ctx, entity, key, keys, where?.(ctx));
    await onRead?.(
      ctx,
      found.filter(row => row !== null),
    );
    return found;
  };

/** Loader of types that others own: whoever asks has the key already, and each field decides what it shows. */
export const stubReferences: ReferenceLoader = async (_ctx, references: readonly object[]) => references.map(one => ({ ...one }));
