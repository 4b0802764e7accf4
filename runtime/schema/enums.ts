import { registerEnumType } from 'type-graphql';

/**
 * Makes TypeScript enums types of the schema, named as their keys here: `registerEnums({ VialStatus, VialForm })`.
 * @param descriptions of those whose values do not speak for themselves.
 */
export function registerEnums<Enums extends Record<string, object>>(
  enums: Enums,
  descriptions: Partial<Readonly<Record<keyof Enums, string>>> = {},
): void {
  for (const [name, values] of Object.entries(enums)) registerEnumType(values, { name, description: descriptions[name] });
}
