import { ProfileVisibility, UserStatus } from '../entities/user.js';

/** Who looks at an account. Source: identity 2, the column of notes. */
export interface Viewer {
  /** S, or staff with `admin:identity:read`. */
  admin: boolean;
  /** A user token of the account itself. */
  self: boolean;
  /** Any user token. */
  user: boolean;
  scopes: ReadonlySet<string>;
}

/** E-mail, phone, dates of use: the owner's with `read:account`. */
export const seesContact = (viewer: Viewer): boolean => viewer.admin || (viewer.self && viewer.scopes.has('read:account'));

/** That the account is theirs to know: brand, dates, version. */
export const seesAccount = (viewer: Viewer): boolean => viewer.admin || viewer.self;

/** Nobody but S sees the profile of an account that is not active. */
export function seesProfile(viewer: Viewer, status: UserStatus, visibility: ProfileVisibility): boolean {
  if (viewer.admin) return status !== UserStatus.ERASED;
  if (status !== UserStatus.ACTIVE) return false;
  if (viewer.self || visibility === ProfileVisibility.PUBLIC) return true;
  return visibility === ProfileVisibility.MEMBERS && viewer.user;
}

/** To strangers an account that cannot be used is gone, whatever the reason; a ban is not theirs to know. */
export const visibleStatus = (viewer: Viewer, status: UserStatus): UserStatus =>
  seesAccount(viewer) || status === UserStatus.ACTIVE ? status : UserStatus.ERASED;
