import { Kind, visit, type ASTNode, type DirectiveNode, type DocumentNode, type SelectionSetNode } from 'graphql';
import { isCondition, type Conditions } from './selections.js';

function isExcluded(directive: DirectiveNode, conditions: Conditions): boolean {
  const { value } = directive.arguments![0]!;
  const given = value.kind === Kind.VARIABLE ? conditions[value.name.value] : value.kind === Kind.BOOLEAN && value.value;
  return isCondition(directive) && Boolean(given) !== (directive.name.value === 'include');
}

const ANYTHING: SelectionSetNode = {
  kind: Kind.SELECTION_SET,
  selections: [{ kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } }],
};

/** The document without what the values of its conditions exclude, and without the conditions. Selections of which nothing remains ask for the type's name. */
export function decided(document: DocumentNode, conditions: Conditions): DocumentNode {
  const keep = (node: ASTNode & { directives?: readonly DirectiveNode[] | undefined }) => {
    const { directives = [] } = node;
    if (!directives.some(isCondition)) return undefined;
    return directives.some(one => isExcluded(one, conditions))
      ? null
      : { ...node, directives: directives.filter(one => !isCondition(one)) };
  };
  return visit(document, {
    Field: keep,
    InlineFragment: keep,
    FragmentSpread: keep,
    SelectionSet: { leave: node => (node.selections.length === 0 ? ANYTHING : undefined) },
  });
}
