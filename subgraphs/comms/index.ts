import { service } from '../../runtime/service.js';
import { readiness } from './commands/readiness.js';
import { consumers } from './consumers/requests.js';
import { CommsInboxItem } from './entities/inbox.js';
import { CommsMessage, CommsSendRequest, MessageAttempt } from './entities/message.js';
import { Preference, QuietHours, ZoneHint } from './entities/preferences.js';
import { CapturedMessage, Digest, DigestItem, InboundReceipt, MailToken, ProviderState } from './entities/records.js';
import { CommsSuppression, PushSubscription } from './entities/suppression.js';
import { CommsTemplate, CommsTemplateVersion } from './entities/template.js';
import { CommsTopic } from './entities/topic.js';
import { erase } from './erase.js';
import { native, nativePaths } from './native/mount.js';
import { references } from './references.js';
import { UserCommsFieldsResolver, UserCommsResolver } from './resolvers/extended.js';
import { InboxResolver } from './resolvers/inbox.js';
import { MessageResolver, SendRequestResolver } from './resolvers/messages.js';
import { DeviceResolver, PreferencesResolver } from './resolvers/preferences.js';
import { SuppressionResolver } from './resolvers/suppressions.js';
import { TemplateResolver } from './resolvers/templates.js';
import { User } from './stubs.js';
import { timers } from './timers.js';
import { templateSync } from './workers/templates.js';

export default service({
  slug: 'comms',
  purpose: 'E-mail, SMS, push and messages in the app: whether, when, how and in which words',
  entities: [
    CommsTopic,
    CommsTemplate,
    CommsTemplateVersion,
    CommsSendRequest,
    CommsMessage,
    MessageAttempt,
    CommsInboxItem,
    Preference,
    QuietHours,
    ZoneHint,
    CommsSuppression,
    PushSubscription,
    Digest,
    DigestItem,
    MailToken,
    CapturedMessage,
    InboundReceipt,
    ProviderState,
  ],
  resolvers: [
    MessageResolver,
    SendRequestResolver,
    InboxResolver,
    PreferencesResolver,
    DeviceResolver,
    TemplateResolver,
    SuppressionResolver,
    UserCommsResolver,
    UserCommsFieldsResolver,
  ],
  types: [User],
  references,
  consumers,
  timers,
  workers: [templateSync],
  erase,
  native,
  nativePaths,
  ready: readiness,
});
