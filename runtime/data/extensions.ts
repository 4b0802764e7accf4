import type pg from 'pg';

/** What the schemas use beyond plain PostgreSQL; each comes with every server. Source: conventions 8. */
const EXTENSIONS = ['btree_gist', 'pg_trgm', 'unaccent'];
const LACKS_RIGHT = '42501';

/** For statements that name `extensions.…` every role must see the schema. */
const OPEN = 'create schema if not exists extensions; grant usage on schema extensions to public';
const create = (extension: string): string => `create extension if not exists ${extension} schema extensions`;

/**
 * Makes the extensions in the schema `extensions`. Called under the migration lock.
 * @throws Error naming the statements that somebody with the right to create them has to run first.
 */
export async function createExtensions(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>('select extname as name from pg_extension where extname = any($1)', [EXTENSIONS]);
  const missing = EXTENSIONS.filter(extension => !rows.some(({ name }) => name === extension));
  if (missing.length === 0) return;
  const statements = [OPEN, ...missing.map(create)];
  try {
    for (const statement of statements) await client.query(statement);
  } catch (error) {
    if ((error as { code?: string }).code !== LACKS_RIGHT) throw error;
    throw new Error(`this database needs extensions that its owner may not create; run as a superuser:\n${statements.join(';\n')};`, {
      cause: error,
    });
  }
}
