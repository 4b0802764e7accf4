import { isUuid } from '../../../runtime/data/ids.js';

/** Conditions of a list with their parameters; a value that is not given makes none. */
export class Conditions {
  readonly parts: string[] = [];
  readonly values: unknown[] = [];

  /** `text` has `?` where the value goes. */
  add(text: string, value: unknown): this {
    if (value === undefined || value === null) return this;
    this.values.push(value instanceof Date ? value.toISOString() : value);
    this.parts.push(text.replace('?', `$${this.values.length}`));
    return this;
  }

  /** An id that is no UUID matches nothing. */
  addId(column: string, id: string | null | undefined): this {
    if (id != null && !isUuid(id)) this.parts.push('false');
    return this.add(`${column} = ?`, id != null && isUuid(id) ? id : null);
  }

  addPlain(text: string): this {
    this.parts.push(text);
    return this;
  }

  get sql(): string {
    return this.parts.length ? this.parts.join(' and ') : 'true';
  }
}
