import { Migration } from '@mikro-orm/migrations';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';
import { Feed } from '../../runtime/streams/feed.js';

/** Seats are counted on the session's row, whose lock all registrations take: the check is the last word on overselling. */
const SESSION = `
create table live.live_series (
  id uuid primary key,
  brand_id uuid not null,
  rrule text not null,
  time_zone text not null,
  created_at timestamptz(3) not null
);

create table live.live_session (
  id uuid primary key,
  brand_id uuid not null,
  kind text not null constraint live_session_kind_check check (kind in ('broadcast', 'group', 'one_to_one')),
  status text not null constraint live_session_status_check check (status in ('draft', 'scheduled', 'live', 'ended', 'cancelled')),
  title text not null,
  description text not null default '',
  cover_image_url text,
  tags text[] not null default '{}',
  locale text not null default 'en',
  visibility text not null constraint live_session_visibility_check check (visibility in ('public', 'unlisted', 'invite')),
  required_feature text,
  starts_at timestamptz(3) not null,
  ends_at timestamptz(3) not null,
  time_zone text not null,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  end_reason text constraint live_session_end_reason_check check (end_reason in ('host', 'staff', 'vendor', 'overrun')),
  capacity int,
  waitlist_enabled boolean not null default true,
  waitlist_limit int,
  promotion_mode text not null constraint live_session_promotion_mode_check check (promotion_mode in ('auto', 'offer')),
  registration_required boolean not null default true,
  registration_opens_at timestamptz(3),
  registration_closes_at timestamptz(3),
  questions_enabled boolean not null default true,
  question_moderation text not null constraint live_session_question_moderation_check check (question_moderation in ('pre', 'post')),
  anonymous_questions boolean not null default true,
  questions_open_at timestamptz(3),
  chat_enabled boolean not null default true,
  recording_enabled boolean not null default false,
  cancel_reason text,
  cancelled_at timestamptz(3),
  series_id uuid,
  room_epoch int not null default 0,
  calendar_sequence int not null default 0,
  confirmed int not null default 0,
  offered int not null default 0,
  waitlisted int not null default 0,
  attended int not null default 0,
  viewers_now int not null default 0,
  peak_viewers int not null default 0,
  next_queue_no int not null default 1,
  exceeded int not null default 0,
  counts_dirty boolean not null default false,
  host_absent_since timestamptz(3),
  hidden_at timestamptz(3),
  created_by text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version int not null default 1,
  constraint live_session_length_check check (ends_at >= starts_at + interval '5 minutes' and ends_at <= starts_at + interval '12 hours'),
  constraint live_session_capacity_check check (capacity between 1 and 100000),
  constraint live_session_counts_check check (least(confirmed, offered, waitlisted, exceeded) >= 0),
  constraint live_session_seats_check check (confirmed + offered <= capacity + exceeded)
);
create index live_session_starts_at_id on live.live_session (starts_at, id) where hidden_at is null;
create index live_session_open on live.live_session (starts_at) where status in ('scheduled', 'live');
create index live_session_dirty on live.live_session (id) where counts_dirty;

create table live.live_session_host (
  session_id uuid not null,
  user_id uuid not null,
  role text not null constraint live_session_host_role_check check (role in ('host', 'co_host', 'speaker', 'moderator')),
  primary key (session_id, user_id)
);
create unique index live_session_host_one on live.live_session_host (session_id) where role = 'host';
create index live_session_host_user_id on live.live_session_host (user_id)`;

const REGISTRATION = `
create table live.live_registration (
  id uuid primary key,
  session_id uuid not null,
  user_id uuid not null,
  status text not null constraint live_registration_status_check check (status in ('confirmed', 'waitlisted', 'offered', 'cancelled', 'expired')),
  source text not null constraint live_registration_source_check check (source in ('self', 'staff', 'host', 'invite', 'join', 'promotion')),
  queue_no int not null,
  registered_at timestamptz(3) not null,
  confirmed_at timestamptz(3),
  confirm_by timestamptz(3),
  cancelled_at timestamptz(3),
  cancelled_by text constraint live_registration_cancelled_by_check check (cancelled_by in ('self', 'host', 'staff', 'system')),
  version int not null default 1
);
create unique index live_registration_session_id_user_id on live.live_registration (session_id, user_id);
create unique index live_registration_queue on live.live_registration (session_id, queue_no);
create index live_registration_waiting on live.live_registration (session_id, queue_no) where status = 'waitlisted';
create index live_registration_offered on live.live_registration (confirm_by) where status = 'offered';
create index live_registration_user_id on live.live_registration (user_id)`;

const QUESTION = `
create table live.live_question (
  id uuid primary key,
  session_id uuid not null,
  user_id uuid,
  body bytea,
  anonymous boolean not null,
  status text not null constraint live_question_status_check check (status in ('pending', 'approved', 'rejected', 'answered', 'hidden', 'withdrawn', 'removed')),
  vote_count int not null default 0,
  votes_dirty boolean not null default false,
  pinned boolean not null default false,
  answer bytea,
  answered_at timestamptz(3),
  answered_by uuid,
  duplicate_of_id uuid,
  reason_code text,
  moderated_at timestamptz(3),
  created_at timestamptz(3) not null,
  version int not null default 1,
  constraint live_question_vote_count_check check (vote_count >= 0)
);
create index live_question_session_id_votes on live.live_question (session_id, vote_count, id);
create index live_question_user_id on live.live_question (user_id, created_at);
create index live_question_dirty on live.live_question (session_id) where votes_dirty;

create table live.live_question_vote (
  question_id uuid not null,
  user_id uuid not null,
  created_at timestamptz(3) not null,
  primary key (question_id, user_id)
);
create index live_question_vote_user_id on live.live_question_vote (user_id)`;

const CALL = `
create table live.live_call (
  id uuid primary key,
  kind text not null constraint live_call_kind_check check (kind in ('one_to_one', 'group')),
  status text not null constraint live_call_status_check check (status in ('created', 'active', 'ended', 'expired', 'cancelled')),
  reference_type text not null constraint live_call_reference_type_check check (reference_type in ('visit', 'conversation', 'none')),
  reference_id uuid,
  opens_at timestamptz(3) not null,
  closes_at timestamptz(3) not null,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  end_reason text constraint live_call_end_reason_check check (end_reason in ('hang_up', 'host', 'staff', 'solo_timeout', 'window_over', 'visit_cancelled')),
  had_two boolean not null default false,
  alone_since timestamptz(3),
  empty_since timestamptz(3),
  created_by text not null,
  created_at timestamptz(3) not null,
  version int not null default 1,
  constraint live_call_window_check check (closes_at > opens_at and closes_at <= opens_at + interval '8 hours')
);
create unique index live_call_reference on live.live_call (reference_type, reference_id) where reference_type <> 'none' and status in ('created', 'active');
create index live_call_open on live.live_call (closes_at) where status in ('created', 'active');

create table live.live_call_participant (
  call_id uuid not null,
  user_id uuid not null,
  role text not null constraint live_call_participant_role_check check (role in ('host', 'guest')),
  state text not null constraint live_call_participant_state_check check (state in ('invited', 'joined', 'left', 'removed')),
  joined_at timestamptz(3),
  left_at timestamptz(3),
  primary key (call_id, user_id)
);
create index live_call_participant_user_id on live.live_call_participant (user_id)`;

/** Who is whom in a room: the vendor knows pseudonyms only. */
const ROOM = `
create table live.live_participant (
  id text primary key,
  subject_id uuid not null,
  user_id uuid not null,
  role text not null
);
create unique index live_participant_subject_id_user_id on live.live_participant (subject_id, user_id);
create index live_participant_user_id on live.live_participant (user_id);

create table live.live_kick (
  subject_id uuid not null,
  participant_id text not null,
  reason_code text not null,
  until timestamptz(3),
  at timestamptz(3) not null,
  primary key (subject_id, participant_id)
);

create table live.live_attendance (
  room text not null,
  sid text not null,
  subject_id uuid not null,
  participant_id text not null,
  joined_at timestamptz(3) not null,
  left_at timestamptz(3),
  primary key (room, sid)
);
create index live_attendance_subject_id on live.live_attendance (subject_id, participant_id);

create unlogged table live.live_presence (
  session_id uuid not null,
  user_id uuid not null,
  seen_at timestamptz(3) not null,
  primary key (session_id, user_id)
);

create table live.streaming_room (
  name text primary key,
  subject_id uuid not null,
  is_call boolean not null,
  wanted text not null constraint streaming_room_wanted_check check (wanted in ('open', 'closed')),
  made_at timestamptz(3),
  closed_at timestamptz(3),
  attempts int not null default 0,
  due_at timestamptz(3)
);
create index streaming_room_due on live.streaming_room (due_at) where due_at is not null;
create index streaming_room_subject_id on live.streaming_room (subject_id);

create table live.streaming_connection (
  sid text primary key,
  room text not null,
  participant_id text not null,
  can_publish boolean not null,
  joined_at timestamptz(3) not null
);
create index streaming_connection_room on live.streaming_connection (room);

create table live.streaming_receipt (
  event_id text primary key,
  type text not null,
  received_at timestamptz(3) not null
);

create table live.live_recording (
  id uuid primary key,
  session_id uuid not null,
  status text not null constraint live_recording_status_check check (status in ('processing', 'ready', 'failed', 'deleted')),
  vendor_ref text not null,
  duration_seconds int,
  size_bytes bigint,
  ready_at timestamptz(3),
  expires_at timestamptz(3),
  created_at timestamptz(3) not null
);
create unique index live_recording_vendor_ref on live.live_recording (vendor_ref);
create index live_recording_session_id on live.live_recording (session_id)`;

const CLASSES = `
comment on column live.live_registration.user_id is 'class: personal';
comment on column live.live_question.user_id is 'class: personal';
comment on column live.live_question.body is 'class: health';
comment on column live.live_question.answer is 'class: health'`;

/** What the read-only role sees: no person, no text, and of calls no more than that there was one. */
const VIEWS = `
create view live.live_session_safe as
  select id, brand_id, kind, status, visibility, starts_at, ends_at, started_at, ended_at, end_reason, capacity, confirmed, offered, waitlisted, attended, peak_viewers,
    cancel_reason, created_at, version from live.live_session;
create view live.live_registration_safe as
  select id, session_id, status, source, registered_at, confirmed_at, confirm_by, cancelled_at, cancelled_by, version from live.live_registration;
create view live.live_question_safe as
  select id, session_id, anonymous, status, vote_count, pinned, reason_code, created_at, version from live.live_question;
create view live.live_call_safe as
  select id, kind, status, date_trunc('hour', opens_at) as opens_at, date_trunc('hour', closes_at) as closes_at, date_trunc('hour', started_at) as started_at,
    date_trunc('hour', ended_at) as ended_at from live.live_call`;

const SAFE = ['live_session_safe', 'live_registration_safe', 'live_question_safe', 'live_call_safe'];

export class Tables extends Migration {
  override up(): void {
    const feeds = [new Feed('live', 'live_feed'), new Feed('live', 'live_chat_feed')].flatMap(feed => feed.tables());
    const tables = [SESSION, REGISTRATION, QUESTION, CALL, ROOM, ...feeds, CLASSES, VIEWS];
    for (const statement of [...houseTables('live'), ...tables, ...SAFE.flatMap(view => grantSafeView('live', view))])
      this.addSql(statement);
  }
}
