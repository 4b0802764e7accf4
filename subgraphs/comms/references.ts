import { rowReferences } from '../../runtime/data/references.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { INBOX_READERS, MESSAGE_READERS, SUPPRESSORS, TEMPLATE_PREVIEWERS } from './entities/access.js';
import { CommsInboxItem } from './entities/inbox.js';
import { CommsMessage } from './entities/message.js';
import { CommsTemplate } from './entities/template.js';
import { CommsTopic } from './entities/topic.js';
import { CommsSuppression, PushSubscription } from './entities/suppression.js';
import { preferencesOf } from './commands/preferences.js';
import { ownRows, seesAll } from './queries/messages.js';

/** Anybody's account may be pointed at by services and staff; a member sees the own one. */
const users: ReferenceLoader = async (ctx, keys: readonly { id: string }[]) =>
  keys.map(({ id }) => (seesAll(ctx) || ctx.caller.kind === 'service' || ctx.caller.userId === id ? { id } : null));

const preferences: ReferenceLoader = (ctx, keys: readonly { userId: string }[]) =>
  Promise.all(
    keys.map(({ userId }) =>
      ctx.caller.kind === 'service' || ctx.caller.userId === userId ? preferencesOf(ctx, userId) : Promise.resolve(null),
    ),
  );

const owned = ({ caller }: Parameters<typeof ownRows>[0]): { userId?: string } =>
  caller.kind === 'service' ? {} : { userId: caller.userId! };

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  CommsMessage: rowReferences(CommsMessage, { readers: MESSAGE_READERS, where: ownRows }),
  CommsInboxItem: rowReferences(CommsInboxItem, { readers: INBOX_READERS, where: owned }),
  CommsTemplate: rowReferences(CommsTemplate, { readers: TEMPLATE_PREVIEWERS }),
  CommsTopic: rowReferences(CommsTopic, { key: 'key' }),
  CommsSuppression: rowReferences(CommsSuppression, { readers: SUPPRESSORS }),
  PushSubscription: rowReferences(PushSubscription, { where: owned }),
  CommsPreferences: preferences,
  User: users,
};
