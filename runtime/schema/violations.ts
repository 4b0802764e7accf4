import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  valueFromASTUntyped,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
} from 'graphql';
import type { Violation } from '../request/errors.js';

/** Constraint of one input field or argument. Lengths count code points; `pattern` is anchored by its author. */
export interface Constraint {
  min?: number;
  max?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  /** A free-form value that must be an object; in a list, each item. */
  object?: boolean;
}

type Constrained = Pick<GraphQLInputField | GraphQLArgument, 'type' | 'astNode' | 'name'>;

/** The constraint on an input field or argument, null for none. */
export function constraintOf(field: Constrained): Constraint | null {
  const directive = field.astNode?.directives?.find(candidate => candidate.name.value === 'constraint');
  if (!directive) return null;
  return Object.fromEntries((directive.arguments ?? []).map(arg => [arg.name.value, valueFromASTUntyped(arg.value)])) as Constraint;
}

/** Counted one by one: a list of them would take many times the memory of the text. */
function codePoints(value: string): number {
  let count = 0;
  for (const _ of value) count++;
  return count;
}

/** A code point has one or two code units, so that most lengths need no counting. */
function stringViolation(rule: Constraint, value: string): string | null {
  const { minLength = 0, maxLength = Infinity } = rule;
  if (value.length < 2 * minLength && codePoints(value) < minLength) return `must have at least ${rule.minLength} characters`;
  if (value.length > 2 * maxLength || (value.length > maxLength && codePoints(value) > maxLength))
    return `must have at most ${rule.maxLength} characters`;
  if (rule.pattern !== undefined && !new RegExp(rule.pattern, 'u').test(value)) return `must match ${rule.pattern}`;
  return null;
}

function numberViolation(rule: Constraint, value: number): string | null {
  if (rule.min !== undefined && value < rule.min) return `must be at least ${rule.min}`;
  if (rule.max !== undefined && value > rule.max) return `must be at most ${rule.max}`;
  return null;
}

function listViolation(rule: Constraint, value: readonly unknown[]): string | null {
  if (rule.minItems !== undefined && value.length < rule.minItems) return `must have at least ${rule.minItems} items`;
  if (rule.maxItems !== undefined && value.length > rule.maxItems) return `must have at most ${rule.maxItems} items`;
  return null;
}

/** Whether a rule of objects is for the value itself; that of a list is for its items. */
const isObjectRule = (rule: Constraint, isList: boolean): boolean => rule.object === true && !isList;

const isPlainObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is wrong with a value under a constraint, null for nothing. Bounds of a list's items stand on the list's field. */
export function violationOf(rule: Constraint, value: unknown, isList = false): string | null {
  if (isObjectRule(rule, isList)) return isPlainObject(value) ? null : 'must be an object';
  if (typeof value === 'string') return stringViolation(rule, value);
  if (typeof value === 'number') return numberViolation(rule, value);
  return Array.isArray(value) ? listViolation(rule, value) : null;
}

type Check = (value: unknown, pointer: string, found: Violation[]) => void;

/** Names of the two ends of a period, one of which is the other's with another ending. */
const ENDS: readonly [RegExp, string][] = [
  [/(^f|F)rom$/, 'o'],
  [/^since$/, 'until'],
  [/(^a|A)fter$/, 'efore'],
];

/** `occurredTo` of `occurredFrom`; null for a name that is no beginning. */
function endOf(name: string): string | null {
  for (const [begin, end] of ENDS) {
    const found = begin.exec(name);
    if (!found) continue;
    const letter = { f: 't', F: 'T', a: 'b', A: 'B' }[found[1] ?? ''] ?? '';
    return name.slice(0, found.index) + letter + end;
  }
  return null;
}

const isOrdered = ({ type }: Constrained): boolean => ['DateTime', 'Date', 'SafeInt'].includes(getNamedType(type).name);

/** Checks that the periods, and the ranges of sequence numbers, among some arguments or fields do not end before they begin. */
function compilePeriods(fields: readonly Constrained[]): Check | null {
  const names = new Set(fields.filter(isOrdered).map(({ name }) => name));
  const periods = [...names].flatMap(name => (names.has(endOf(name) ?? '') ? [[name, endOf(name)!] as const] : []));
  if (periods.length === 0) return null;
  return (value, pointer, found) => {
    for (const [begin, end] of periods) {
      const { [begin]: from, [end]: to } = value as Record<string, Date | string | number | null | undefined>;
      if (from != null && to != null && from > to)
        found.push({ pointer: `${pointer}/${end}`, message: 'must not be before the beginning' });
    }
  };
}

/** Compiled once per input type; recursive types find themselves here. */
const compiled = new WeakMap<GraphQLInputType, Check | null>();

function compileObject(type: GraphQLInputType): Check | null {
  if (!isInputObjectType(type)) return null;
  compiled.set(type, (value, pointer, found) => compiled.get(type)!(value, pointer, found));
  const fields = Object.values(type.getFields());
  const periods = compilePeriods(fields);
  const checks = fields.map(field => [field.name, compileField(field)] as const).filter(([, check]) => check !== null);
  return (value, pointer, found) => {
    for (const [name, check] of checks) check!((value as Record<string, unknown>)[name], `${pointer}/${name}`, found);
    periods?.(value, pointer, found);
  };
}

function compileType(type: GraphQLInputType): Check | null {
  if (isNonNullType(type)) return compileType(type.ofType);
  if (isEnumType(type)) return null;
  if (isListType(type)) {
    const item = compileType(type.ofType);
    return (
      item &&
      ((value, pointer, found) => (value as unknown[]).forEach((one, index) => one != null && item(one, `${pointer}/${index}`, found)))
    );
  }
  if (!compiled.has(type)) compiled.set(type, compileObject(type));
  return compiled.get(type) ?? null;
}

function eachItem(rule: Constraint, value: unknown, pointer: string, found: Violation[]): void {
  if (!Array.isArray(value)) return;
  value.forEach((item, index) => {
    const message = Array.isArray(item) && !rule.object ? null : violationOf(rule, item);
    if (message) found.push({ pointer: `${pointer}/${index}`, message });
  });
}

function compileField(field: Constrained): Check | null {
  const [rule, inner, isList] = [constraintOf(field), compileType(field.type), isListType(getNullableType(field.type))];
  if (!rule && !inner) return null;
  return (value, pointer, found) => {
    if (value === undefined || value === null) return;
    const message = rule && violationOf(rule, value, isList);
    if (message) found.push({ pointer, message });
    if (rule && isList) eachItem(rule, value, pointer, found);
    inner?.(value, pointer, found);
  };
}

/** A function that lists every violation of an operation's arguments; pointers are `/input/name`. Null: nothing to check. */
export function compileArguments(args: readonly GraphQLArgument[]): ((values: Record<string, unknown>) => Violation[]) | null {
  const checks = args.map(arg => [arg.name, compileField(arg)] as const).filter(([, check]) => check !== null);
  const periods = compilePeriods(args);
  if (checks.length === 0 && !periods) return null;
  return values => {
    const found: Violation[] = [];
    for (const [name, check] of checks) check!(values[name], `/${name}`, found);
    periods?.(values, '', found);
    return found;
  };
}
