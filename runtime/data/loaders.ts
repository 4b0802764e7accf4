import DataLoader from 'dataloader';

/** Loads the rows of many keys with one statement; the answer has the order of the keys, null where nothing was found. */
export type BatchLoad<Key, Row> = (keys: readonly Key[]) => Promise<readonly (Row | null)[]>;

/** Per-request batch loaders by name, so that a list of 100 costs one SQL statement per level. Source: conventions 10. */
export class Loaders {
  readonly #loaders = new Map<string, DataLoader<unknown, unknown, string>>();

  /** Joins the batch `name`; the first caller's `batch` is used. Keys that are objects are compared by their JSON. */
  load<Key, Row>(name: string, key: Key, batch: BatchLoad<Key, Row>): Promise<Row | null> {
    return this.#loader(name, batch).load(key) as Promise<Row | null>;
  }

  /** Spares the statement for what a command has just written. */
  know<Key, Row>(name: string, key: Key, batch: BatchLoad<Key, Row>, row: Row): void {
    this.#loader(name, batch).prime(key, row);
  }

  #loader<Key, Row>(name: string, batch: BatchLoad<Key, Row>): DataLoader<unknown, unknown, string> {
    let loader = this.#loaders.get(name);
    if (!loader) {
      loader = new DataLoader(keys => batch(keys as readonly Key[]) as never, {
        cacheKeyFn: one => (typeof one === 'string' ? one : JSON.stringify(one)),
      });
      this.#loaders.set(name, loader);
    }
    return loader;
  }

  /** Forgets what was read, after a transaction changed it. */
  clear(): void {
    this.#loaders.clear();
  }
}

/** Puts rows in the order of the keys. */
export function inOrder<Key extends string, Row>(keys: readonly Key[], rows: readonly Row[], keyOf: (row: Row) => Key): (Row | null)[] {
  const byKey = new Map(rows.map(row => [keyOf(row), row]));
  return keys.map(key => byKey.get(key) ?? null);
}
