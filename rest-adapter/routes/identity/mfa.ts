import { del, get, post, type Route } from '../../route.js';

const METHOD = 'id kind label status createdAt lastUsedAt';
const CONFIRMED = `method { ${METHOD} } backupCodes`;

const routes: Route[] = [
  get('/v1/users/me/mfa', 'me.mfaMethods', METHOD, 'List the own second factors', { as: 'myMfa' }),
  post('/v1/users/me/mfa/totp/init', 'initTotp', 'methodId secret otpauthUri qrSvg expiresAt', 'Begin with an authenticator app', {
    status: 201,
    problems: { 409: 'There are five methods already' },
  }),
  post('/v1/users/me/mfa/totp/confirm', 'confirmTotp', CONFIRMED, 'Confirm an authenticator app by its first code', {
    problems: { 409: 'Five codes were wrong' },
  }),
  del('/v1/users/me/mfa/{method_id}', 'deleteMfaMethod', 'id', 'Remove a second factor', {
    path: { method_id: 'id' },
    problems: { 409: 'The last method of an active member of staff' },
  }),
  get('/v1/users/me/backup-codes', 'me.backupCodes', 'generatedAt total remaining', 'Count the own backup codes'),
  post('/v1/users/me/backup-codes/regenerate', 'regenerateBackupCodes', 'backupCodes', 'Replace the own backup codes', {
    problems: { 409: 'There is no second factor' },
  }),
];

export default routes;
