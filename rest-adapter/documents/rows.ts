/** What is derived for each row, one line a row: generated and checked in, so that a new argument shows in review. */
import { getNullableType, isInputObjectType } from 'graphql';
import type { Plan } from '../plan.js';
import type { InputSource, Usage, Variable } from '../sources.js';
import { toSnake } from '../../runtime/schema/wire-names.js';
import { operationIdOf } from './operations.js';

const HEAD = `# Every documented path with what is derived for it: operationId, statuses, Location, and where each parameter comes from.
# Generated from the route tables and the supergraph by \`npm run generate\`. Do not edit.
`;

/** The type as a caller sees it: optional where there is a default. */
const typeOf = ({ type, defaultValue }: Usage): string => String(defaultValue === undefined ? type : getNullableType(type));

const constantText = ([name, value]: readonly [string, unknown]): string => `constant ${name} = ${JSON.stringify(value)}`;

/** The fields of an input object, each where it comes from. */
function inputTexts({ usage }: Variable, { path, query, constant, omit, body }: InputSource): string[] {
  const type = getNullableType(usage.type);
  const fields = isInputObjectType(type) ? Object.values(type.getFields()) : [];
  const typeNamed = (name: string): string => typeOf(fields.find(field => field.name === name)!);
  const given = [...Object.values(path), ...Object.values(query), ...Object.keys(constant), ...omit];
  const left = body ? fields.filter(({ name }) => !given.includes(name)) : [];
  return [
    ...Object.entries(path).map(([wire, name]) => `path ${wire}: ${typeNamed(name)}`),
    ...Object.entries(query).map(([wire, name]) => `query ${wire}: ${typeNamed(name)}`),
    ...Object.entries(constant).map(constantText),
    ...left.map(field => `body ${toSnake(field.name)}: ${typeOf(field)}`),
  ];
}

function variableTexts(variable: Variable): string[] {
  const { source, name, type } = variable;
  if (source.from === 'input') return inputTexts(variable, source);
  return [source.from === 'constant' ? constantText([name, source.value]) : `${source.from} ${source.name}: ${type}`];
}

const statusText = ({ status, location }: Plan): string => `${status.join(', ')}${location === null ? '' : ` at ${location}`}`;

const rowText = (plan: Plan): string =>
  [plan.key, operationIdOf(plan), statusText(plan), plan.variables.flatMap(variableTexts).join(', ')].join(' | ').trimEnd();

/** One paragraph a service. */
export function rowList(plans: readonly Plan[]): string {
  const services = [...new Set(plans.map(({ slug }) => slug))];
  const paragraphs = services.map(slug =>
    plans
      .filter(plan => plan.slug === slug)
      .map(plan => `${rowText(plan)}\n`)
      .join(''),
  );
  return [HEAD, ...paragraphs].join('\n');
}
