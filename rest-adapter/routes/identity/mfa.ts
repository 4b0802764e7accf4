import { body, bodyKey, path, type Route } from '../../route.js';

const METHOD = 'id kind label status createdAt lastUsedAt';

const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/users/me/mfa',
    status: [200],
    summary: 'List the own second factors',
    document: `query MyMfa { me { result: mfaMethods { ${METHOD} } } }`,
  },
  {
    method: 'POST',
    path: '/v1/users/me/mfa/totp/init',
    status: [201],
    summary: 'Begin with an authenticator app',
    document: 'mutation InitTotp($label: String) { result: initTotp(label: $label) { methodId secret otpauthUri qrSvg expiresAt } }',
    variables: { label: bodyKey('label') },
    problems: { 409: 'There are five methods already' },
  },
  {
    method: 'POST',
    path: '/v1/users/me/mfa/totp/confirm',
    status: [200],
    summary: 'Confirm an authenticator app by its first code',
    document: `mutation ConfirmTotp($input: ConfirmTotpInput!) { result: confirmTotp(input: $input) { method { ${METHOD} } backupCodes } }`,
    variables: { input: body() },
    problems: { 409: 'Five codes were wrong' },
  },
  {
    method: 'DELETE',
    path: '/v1/users/me/mfa/{method_id}',
    status: [204],
    summary: 'Remove a second factor',
    document: 'mutation DeleteMfaMethod($id: ID!) { result: deleteMfaMethod(id: $id) { id } }',
    variables: { id: path('method_id') },
    problems: { 409: 'The last method of an active member of staff' },
  },
  {
    method: 'GET',
    path: '/v1/users/me/backup-codes',
    status: [200],
    summary: 'Count the own backup codes',
    document: 'query MyBackupCodes { me { result: backupCodes { generatedAt total remaining } } }',
  },
  {
    method: 'POST',
    path: '/v1/users/me/backup-codes/regenerate',
    status: [200],
    summary: 'Replace the own backup codes',
    document: 'mutation RegenerateBackupCodes { result: regenerateBackupCodes { backupCodes } }',
    problems: { 409: 'There is no second factor' },
  },
];

export default routes;
