/** An object of the merged data. The data is a graph: an entity that has several paths may be one object. */
export type Row = Record<string, unknown>;

/** Variables as the client sent them; fetches declare their defaults, so the subgraphs apply them. */
export type Variables = Readonly<Row>;

export const isRow = (value: unknown): value is Row => value !== null && typeof value === 'object' && !Array.isArray(value);
