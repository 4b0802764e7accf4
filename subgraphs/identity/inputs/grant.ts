import { registerEnums } from '../../../runtime/schema/enums.js';

export enum OAuthGrantInclude {
  REVOKED = 'revoked',
}
registerEnums({ OAuthGrantInclude }, { OAuthGrantInclude: 'REVOKED adds the grants that were revoked in the last 90 days.' });
