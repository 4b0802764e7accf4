import { registerEnumType } from 'type-graphql';

export enum OAuthGrantInclude {
  REVOKED = 'revoked',
}
registerEnumType(OAuthGrantInclude, {
  name: 'OAuthGrantInclude',
  description: 'REVOKED adds the grants that were revoked in the last 90 days.',
});
