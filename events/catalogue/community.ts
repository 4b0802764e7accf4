import { defineEvent } from '../define.js';
import { bool, code, data, id, int, oneOf, ts } from '../payload.js';

const owner = 'community' as const;

export const postCreated = defineEvent('community.post.created.v1',
  data({
    post_id: id(), space_id: id().nullable(), kind: oneOf('post', 'question', 'poll', 'broadcast'), mention_count: int(), attachment_count: int(),
  }),
  { owner, when: 'A post is visible.', user: 'required', about: 'the author', scope: 'read:community', consumers: ['follows', 'comms', 'ai'] },
);

export const postCommented = defineEvent('community.post.commented.v1',
  data({ post_id: id(), comment_id: id(), commenter_user_id: id(), comment_count: int(3) }),
  {
    owner, when: "The author's post gets a comment.", user: 'required', about: 'the author of the post', scope: 'read:community',
    consumers: ['comms'],
  },
);

export const commentCreated = defineEvent('community.comment.created.v1',
  data({ comment_id: id(), post_id: id(), parent_comment_id: id().nullable() }),
  { owner, when: 'A comment is visible.', user: 'required', about: 'the commenter', scope: 'read:community' },
);

export const mentionCreated = defineEvent('community.mention.created.v1',
  data({ mention_id: id(), post_id: id(), comment_id: id().nullable(), by_user_id: id() }),
  { owner, when: 'Somebody is named.', user: 'required', about: 'the mentioned member', scope: 'read:community', consumers: ['comms'] },
);

export const postDeleted = defineEvent('community.post.deleted.v1',
  data({ post_id: id(), deleted_by: oneOf('author', 'moderator', 'system'), reason: code('off_topic').nullable() }),
  { owner, when: 'A post is removed.', user: 'required', about: 'the author', scope: 'read:community', consumers: ['ai', 'comms', 'follows'] },
);

export const postLocked = defineEvent('community.post.locked.v1',
  data({ post_id: id(), locked: bool(), by: oneOf('moderator', 'system'), reason: code('off_topic').nullable() }),
  { owner, when: "A post's comments are closed.", user: 'required', about: 'the author', scope: 'read:community' },
);

export const broadcastExpired = defineEvent('community.broadcast.expired.v1',
  data({ post_id: id(), expired_at: ts(), reach: int(420) }),
  { owner, when: 'A broadcast passes its end.', user: 'optional', about: 'the author', scope: null },
);

export const digestScheduled = defineEvent('mention.digest.scheduled.v1',
  data({
    digest_id: id(), mention_count: int(), window_start: ts('2026-11-19T00:00:00.000Z'), window_end: ts('2026-11-20T00:00:00.000Z'),
    send_at: ts('2026-11-21T07:00:00.000Z'),
  }),
  { owner, when: 'Unread mentions are bundled.', user: 'required', scope: null, consumers: ['comms'] },
);
