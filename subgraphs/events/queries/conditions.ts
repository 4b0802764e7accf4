import { isUuid } from '../../../runtime/data/ids.js';
import { decodeCursor } from '../../../runtime/request/paging.js';

/** Conditions of a list with their parameters; a value that is not given makes none. */
export class Conditions {
  readonly #parts: string[] = [];
  readonly values: unknown[] = [];

  /** `text` has `?` where the value goes. */
  add(text: string, value: unknown): this {
    if (value === undefined || value === null) return this;
    this.values.push(value instanceof Date ? value.toISOString() : value);
    this.#parts.push(text.replace('?', `$${this.values.length}`));
    return this;
  }

  /** An id that is no UUID matches nothing. */
  addId(text: string, id: string | null | undefined): this {
    return id != null && !isUuid(id) ? this.add('false and ?::text is null', id) : this.add(text, id);
  }

  /** What follows a cursor of one key. @throws Problem invalid_request for another list's. */
  after(text: string, cursor: string | null | undefined, valid: (key: string) => boolean = () => true): this {
    if (!cursor) return this;
    const [key] = decodeCursor(cursor, 1);
    if (typeof key !== 'string' || !valid(key)) decodeCursor('', 1);
    return this.add(text, key);
  }

  get sql(): string {
    return this.#parts.length > 0 ? this.#parts.join(' and ') : 'true';
  }
}

/** The row at which a page begins; null for the first page. @throws Problem invalid_request for another list's cursor. */
export function rowAt(cursor: string | null | undefined): string | null {
  if (!cursor) return null;
  const [id] = decodeCursor(cursor, 1);
  if (typeof id !== 'string' || !isUuid(id)) decodeCursor('', 1);
  return String(id);
}

/** Timestamps come as text. */
export const instant = (text: string): Date => new Date(text);
export const instantOrNull = (text: string | null): Date | null => (text === null ? null : new Date(text));
