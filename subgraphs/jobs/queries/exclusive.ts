/** Whether the queue of a job `m` admits it: an exclusive one takes one job for each group key. Source: jobs 2. */
export const ADMITTED = `not exists (select from jobs.job_meta o join jobs.queue_definition q on q.name = o.queue
  where q.policy = 'exclusive' and o.queue = m.queue and o.group_key is not distinct from m.group_key and o.id <> m.id
    and o.status in ('queued', 'running', 'retrying', 'cancelling'))`;
