import { OmissionReason, type OmittedColumn } from '../entities/safe-view.js';

/** A column of a table with its mark (`class: personal`), as the database has it. */
export interface TableColumn {
  schema: string;
  table: string;
  column: string;
  mark: string | null;
}

/** A safe view as the database has it. */
export interface ViewFacts {
  schema: string;
  view: string;
  columns: readonly string[];
  barrier: boolean;
  ownerLogsIn: boolean;
}

/** A right of the read-only role on a table or view. */
export interface Grant {
  schema: string;
  relation: string;
  privilege: string;
}

export interface Catalogue {
  columns: readonly TableColumn[];
  views: readonly ViewFacts[];
  grants: readonly Grant[];
}

export interface JudgedView {
  schema: string;
  view: string;
  columns: readonly string[];
  omitted: OmittedColumn[];
  drift: string[];
}

const MARK = /^class: (personal|health|secret|free_text)$/;

/** By its name, where a column that is left out is not marked. */
const NAMED: readonly [RegExp, OmissionReason][] = [
  [/secret|token|hash|password|credential|key_id|sealed|signature|verification/, OmissionReason.SECRET],
  [/reason|note|text|description|message|body|title|comment|bio|label/, OmissionReason.FREE_TEXT],
  [/value|biomarker|unit|score|range|dose|symptom|finding|payload|details/, OmissionReason.HEALTH],
];

const markOf = (mark: string | null): OmissionReason | null => (MARK.exec(mark ?? '')?.[1] as OmissionReason | undefined) ?? null;

const reasonOf = ({ column, mark }: TableColumn): OmissionReason =>
  markOf(mark) ?? NAMED.find(([pattern]) => pattern.test(column))?.[1] ?? OmissionReason.PERSONAL;

/**
 * The view of a table is called after it, in the singular or, as the specification names that of re-test cycles, in the plural; that of
 * a table which keeps what an engine does not (`job_meta`), after the thing.
 */
const isViewOf = (view: string, table: string): boolean =>
  [`${table}_safe`, `${table}s_safe`, `${table.replace(/_meta$/, '')}_safe`].includes(view);

function judge(view: ViewFacts, { columns, grants }: Catalogue): JudgedView {
  const { schema } = view;
  const table = columns.filter(one => one.schema === schema && isViewOf(view.view, one.table));
  const shown = table.filter(({ column, mark }) => view.columns.includes(column) && markOf(mark) !== null);
  const beyond = grants.filter(one => one.schema === schema && one.relation === view.view && one.privilege !== 'SELECT');
  const drift = [
    ...shown.map(({ column, mark }) => `shows ${column}, which is marked ${markOf(mark)}`),
    ...beyond.map(({ privilege }) => `grants ${privilege}`),
    ...(view.barrier ? [] : ['is no security barrier']),
    ...(view.ownerLogsIn ? ['is owned by a role that can log in'] : []),
  ];
  const omitted = table.filter(({ column }) => !view.columns.includes(column)).map(one => ({ column: one.column, reason: reasonOf(one) }));
  return { schema, view: view.view, columns: view.columns, omitted, drift };
}

/** A table with marked columns in a schema that has safe views, and none of its own. */
function missing({ columns, views }: Catalogue): JudgedView[] {
  const schemas = new Set(views.map(({ schema }) => schema));
  const marked = columns.filter(({ schema, mark }) => schemas.has(schema) && markOf(mark) !== null);
  const tables = new Map(marked.map(({ schema, table }) => [`${schema} ${table}`, { schema, table }]));
  return [...tables.values()]
    .filter(({ schema, table }) => !views.some(one => one.schema === schema && isViewOf(one.view, table)))
    .map(({ schema, table }) => ({ schema, view: `${table}_safe`, columns: [], omitted: [], drift: ['is missing'] }));
}

/** Rights of the read-only role on anything that is no safe view. */
function strays({ views, grants }: Catalogue): JudgedView[] {
  const isSafe = ({ schema, relation }: Grant): boolean => views.some(one => one.schema === schema && one.view === relation);
  return grants
    .filter(grant => !isSafe(grant))
    .map(({ schema, relation, privilege }) => ({
      schema,
      view: relation,
      columns: [],
      omitted: [],
      drift: [`grants ${privilege} on what is no safe view`],
    }));
}

/** All safe views, judged. Source: platform, rule 11. */
export function judgeViews(catalogue: Catalogue): JudgedView[] {
  const all = [...catalogue.views.map(view => judge(view, catalogue)), ...missing(catalogue), ...strays(catalogue)];
  const merged = new Map<string, JudgedView>();
  for (const one of all) {
    const name = `${one.schema} ${one.view}`;
    const before = merged.get(name);
    merged.set(name, before ? { ...before, drift: [...before.drift, ...one.drift] } : one);
  }
  return [...merged.values()].sort((a, b) => (`${a.schema}.${a.view}` < `${b.schema}.${b.view}` ? -1 : 1));
}
