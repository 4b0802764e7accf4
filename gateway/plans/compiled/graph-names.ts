import { isEnumType, Kind, type GraphQLSchema } from 'graphql';

/** Value of the supergraph's enum of subgraphs -> the subgraph's name. */
export function graphNames(supergraph: GraphQLSchema): ReadonlyMap<string, string> {
  const type = supergraph.getType('join__Graph');
  const values = isEnumType(type) ? type.getValues() : [];
  return new Map(
    values.map(({ name, astNode }) => {
      const given = astNode?.directives?.[0]?.arguments?.find(one => one.name.value === 'name')?.value;
      return [name, given?.kind === Kind.STRING ? given.value : name];
    }),
  );
}
