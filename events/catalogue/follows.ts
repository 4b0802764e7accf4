import { defineEvent } from '../define.js';
import { bool, data, id } from '../payload.js';

const owner = 'follows' as const;

export const followCreated = defineEvent('follows.created.v1',
  data({ follow_id: id(), followee_user_id: id(), mutual: bool() }),
  {
    owner, when: 'A user follows another.', user: 'required', about: 'who follows or blocks', scope: 'read:follows',
    consumers: ['comms', 'community'],
  },
);

export const followDeleted = defineEvent('follows.deleted.v1',
  data({ follow_id: id(), followee_user_id: id() }),
  { owner, when: 'A user unfollows another.', user: 'required', about: 'who follows or blocks', scope: 'read:follows', consumers: ['community'] },
);

export const userBlocked = defineEvent('follows.blocked.v1',
  data({ blocked_user_id: id() }),
  {
    owner, when: 'A user blocks another; it ends follows both ways.', user: 'required', about: 'who follows or blocks', scope: null,
    consumers: ['community', 'messaging', 'live'],
  },
);

export const userUnblocked = defineEvent('follows.unblocked.v1',
  data({ blocked_user_id: id() }),
  { owner, when: 'A user unblocks another.', user: 'required', about: 'who follows or blocks', scope: null, consumers: ['community', 'messaging'] },
);
