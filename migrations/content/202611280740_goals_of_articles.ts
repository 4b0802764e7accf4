import { Migration } from '@mikro-orm/migrations';

/** Search by goal finds articles: the goals of those that are published already. */
export class GoalsOfArticles extends Migration {
  override up(): void {
    this.addSql(`update content.content_document d
      set goals = array(select jsonb_array_elements_text(p.data->'goals'))
      from content.content_publication p
      where p.item_id = d.item_id and p.locale = d.locale and p.collection = 'LEARN_ARTICLES' and jsonb_typeof(p.data->'goals') = 'array'`);
  }
}
