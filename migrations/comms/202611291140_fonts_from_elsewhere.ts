import { Migration } from '@mikro-orm/migrations';

/** What MJML has put into mails for each font that it knows. */
const LOADED = String.raw`<link href="https://fonts\.googleapis\.com/[^"]*"[^>]*>|@import url\(https://fonts\.googleapis\.com/[^)]*\);`;

/** Mails that staff have published no longer load fonts from a maker of fonts, who learns by it who reads them. Texts and layout stay as they are. */
export class FontsFromElsewhere extends Migration {
  override up(): void {
    this.addSql(
      `update comms.template_version set html = regexp_replace(html, '${LOADED}', '', 'g') where html like '%fonts.googleapis.com%'`,
    );
  }
}
