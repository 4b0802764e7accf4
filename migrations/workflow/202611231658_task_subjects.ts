import { Migration } from '@mikro-orm/migrations';

/** What a task is about, by type and id. */
export class TaskSubjects extends Migration {
  override up(): void {
    this.addSql('alter table workflow.workflow_task add column subject_type text, add column subject_id text');
  }
}
