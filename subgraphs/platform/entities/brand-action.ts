import { registerEnums } from '../../../runtime/schema/enums.js';

export enum BrandAction {
  SUSPEND = 'suspend',
  ACTIVATE = 'activate',
  ARCHIVE = 'archive',
}
registerEnums(
  { BrandAction },
  { BrandAction: 'ACTIVATE and ARCHIVE are for a suspended brand; one with a verified host is not archived.' },
);
