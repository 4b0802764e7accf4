import {
  GraphQLError,
  Kind,
  ValuesOfCorrectTypeRule,
  type ASTNode,
  type ASTVisitFn,
  type ASTVisitor,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';
import { invalidValue, reasonOf } from '../../runtime/request/graphql-messages.js';
import { MAX_VALUE_ERRORS } from '../plans/compiled/variables.js';

/** The nodes and lists of a document from its root down to one literal. */
type Chain = readonly (ASTNode | readonly ASTNode[])[];

const isNode = (one: Chain[number] | undefined): one is ASTNode => one !== undefined && 'kind' in one;

/** What holds a literal, `Argument "input"` or `Variable "$at"` for its default, and the path there, as in messages about variables: `input.results[0].at`. */
function placeOf(chain: Chain, keys: readonly (string | number)[]): { holder: string; path: string[] } {
  let [holder, path]: [string, string[]] = ['A value', []];
  chain.forEach((one, at) => {
    if (!isNode(one)) return;
    const list = chain[at - 2];
    if (one.kind === Kind.ARGUMENT) [holder, path] = [`Argument "${one.name.value}"`, [one.name.value]];
    else if (one.kind === Kind.VARIABLE_DEFINITION) [holder, path] = [`Variable "$${one.variable.name.value}"`, [one.variable.name.value]];
    else if (one.kind === Kind.OBJECT_FIELD) path.push(`.${one.name.value}`);
    else if (isNode(list) && list.kind === Kind.LIST) path.push(`[${keys[at - 1]}]`);
  });
  return { holder, path };
}

function refused({ message, nodes }: GraphQLError, chain: Chain, keys: readonly (string | number)[]): GraphQLError {
  const { holder, path } = placeOf(chain, keys);
  const text = invalidValue(holder, path.length > 1 ? path.join('') : null, reasonOf(message));
  return new GraphQLError(text, { nodes, extensions: { code: 'BAD_USER_INPUT' } });
}

type Visit = (this: void, ...given: Parameters<ASTVisitFn<ASTNode>>) => unknown;

/** The specification's rule of values, whose findings are collected instead of reported, each with its place and without the value. */
export function literalRule(found: GraphQLError[]): ValidationRule {
  return context => {
    let [chain, keys]: [Chain, readonly (string | number)[]] = [[], []];
    const reportError = (error: GraphQLError): void => {
      if (found.length < MAX_VALUE_ERRORS) found.push(refused(error, chain, keys));
    };
    const rule = ValuesOfCorrectTypeRule(Object.assign(Object.create(context) as ValidationContext, { reportError }));
    const visits = Object.entries(rule as Record<string, Visit>).map(([kind, visit]): [string, Visit] => [
      kind,
      (...given) => {
        const [node, , parent, path, ancestors] = given;
        [chain, keys] = [[...ancestors, ...(parent ? [parent] : []), node], path];
        return visit(...given);
      },
    ]);
    return Object.fromEntries(visits) as ASTVisitor;
  };
}
