import 'reflect-metadata';
import { Directive } from 'type-graphql';
import { ruleOf, type AccessRule, type RuleInput } from './rules.js';

/** What services ask of rules besides; whoever declares none takes it from there, for this file loads type-graphql. */
export { checkAccess, mayAccess, reachesAll, ruleOf } from './rules.js';

const literal = (value: unknown): string => (Array.isArray(value) ? `[${value.map(literal).join(', ')}]` : JSON.stringify(value));

/** `@access(service: "admin:clinical")` for SDL. */
function ruleToDirective(rule: AccessRule): string {
  const args = Object.entries(rule)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${literal(value)}`);
  return `@access(${args.join(', ')})`;
}

/**
 * Guards an operation or a field; on a class, every field of it that has no rule of its own.
 * The rule becomes `@access` in the SDL and is enforced by the subgraph on every path into it, `_entities` included.
 */
export function Access(input: RuleInput): MethodDecorator & PropertyDecorator & ClassDecorator {
  const rule = ruleOf(input);
  return ((target: object, property?: string | symbol, descriptor?: PropertyDescriptor) => {
    const directive = Directive(ruleToDirective(rule)); // on a class it is spread over the fields when the SDL is made
    if (property === undefined) (directive as ClassDecorator)(target as Function);
    else (directive as MethodDecorator)(target, property, descriptor as PropertyDescriptor);
  }) as never;
}
