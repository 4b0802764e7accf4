import { registerEnumType } from 'type-graphql';

export enum BrandAction {
  SUSPEND = 'suspend',
  ACTIVATE = 'activate',
  ARCHIVE = 'archive',
}
registerEnumType(BrandAction, {
  name: 'BrandAction',
  description: 'ACTIVATE and ARCHIVE are for a suspended brand; one with a verified host is not archived.',
});
