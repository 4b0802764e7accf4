import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import {
  addVersion,
  archiveTemplate,
  compiled,
  createTemplate,
  previewTemplate,
  publishVersion,
  updateTemplate,
} from '../commands/templates.js';
import { testTemplate } from '../commands/template-test.js';
import { TEMPLATE_PREVIEWERS, TEMPLATE_WRITERS } from '../entities/access.js';
import { CommsSendRequest } from '../entities/message.js';
import { CommsTemplate, CommsTemplateConnection, CommsTemplatePreview, CommsTemplateVersion } from '../entities/template.js';
import {
  AddCommsTemplateVersionInput,
  CommsTemplatesArgs,
  CreateCommsTemplateInput,
  PreviewCommsTemplateInput,
  UpdateCommsTemplateInput,
} from '../inputs/templates.js';

@Resolver(() => CommsTemplate)
export class TemplateResolver {
  @Access(TEMPLATE_PREVIEWERS)
  @Query(() => CommsTemplateConnection, { description: 'Templates, newest first.' })
  commsTemplates(
    @Args(() => CommsTemplatesArgs) { key, topic, ...paging }: CommsTemplatesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<CommsTemplate>> {
    return page(ctx.em, CommsTemplate, { ...(key && { key }), ...(topic && { topic }) }, paging, { time: 'createdAt' });
  }

  @Access(TEMPLATE_PREVIEWERS)
  @Query(() => CommsTemplate, { nullable: true, description: 'One template.' })
  commsTemplate(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<CommsTemplate | null> {
    return findRow(ctx, CommsTemplate, { id });
  }

  @Access(TEMPLATE_WRITERS)
  @Mutation(() => CommsTemplate, { description: 'Makes a template, without texts.' })
  createCommsTemplate(
    @Arg('input', () => CreateCommsTemplateInput) input: CreateCommsTemplateInput,
    @Ctx() ctx: Context,
  ): Promise<CommsTemplate> {
    return createTemplate(ctx, input);
  }

  @Access(TEMPLATE_WRITERS)
  @Mutation(() => CommsTemplate, { description: 'Changes its variables or its example.' })
  updateCommsTemplate(
    @Arg('input', () => UpdateCommsTemplateInput) input: UpdateCommsTemplateInput,
    @Ctx() ctx: Context,
  ): Promise<CommsTemplate> {
    return updateTemplate(ctx, input);
  }

  @Access(TEMPLATE_WRITERS)
  @Mutation(() => Boolean, { description: 'Takes it out of use.' })
  archiveCommsTemplate(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<boolean> {
    return archiveTemplate(ctx, id);
  }

  @Access(TEMPLATE_WRITERS)
  @Mutation(() => CommsTemplateVersion, { description: 'A draft of its next version in a channel and language.' })
  addCommsTemplateVersion(
    @Arg('input', () => AddCommsTemplateVersionInput) input: AddCommsTemplateVersionInput,
    @Ctx() ctx: Context,
  ): Promise<CommsTemplateVersion> {
    return addVersion(ctx, input);
  }

  @Access(TEMPLATE_WRITERS)
  @Prepare(compiled)
  @Mutation(() => CommsTemplateVersion, { description: 'From now on it is what is sent. All its faults are listed.' })
  publishCommsTemplateVersion(
    @Arg('templateId', () => ID) templateId: string,
    @Arg('id', () => ID) id: string,
    @Ctx() ctx: Context,
  ): Promise<CommsTemplateVersion> {
    return publishVersion(ctx, templateId, id);
  }

  @Access(TEMPLATE_PREVIEWERS)
  @Query(() => CommsTemplatePreview, { description: 'A version filled in with the example of its template; nothing is sent.' })
  previewCommsTemplate(
    @Arg('input', () => PreviewCommsTemplateInput) input: PreviewCommsTemplateInput,
    @Ctx() ctx: Context,
  ): Promise<CommsTemplatePreview> {
    return previewTemplate(ctx, input);
  }

  @Access({ staff: 'admin:comms:template' })
  @Mutation(() => CommsSendRequest, { description: 'Sends it with its example, to the caller only.' })
  testCommsTemplate(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<CommsSendRequest> {
    return testTemplate(ctx, id);
  }

  @FieldResolver(() => [CommsTemplateVersion], { description: 'The newest version by channel and language.' })
  locales(@Root() { id }: CommsTemplate, @Ctx() ctx: Context): Promise<CommsTemplateVersion[]> {
    return newestVersions(ctx, id);
  }
}

const newestVersions = async (ctx: Context, templateId: string): Promise<CommsTemplateVersion[]> =>
  (await ctx.load('comms.versions', templateId, async ids => {
    const rows = await ctx.em.find(
      CommsTemplateVersion,
      { templateId: { $in: [...ids] } },
      { orderBy: { channel: 'asc', locale: 'asc', number: 'desc' } },
    );
    const newest = rows.filter(
      (row, index) =>
        rows.findIndex(one => one.templateId === row.templateId && one.channel === row.channel && one.locale === row.locale) === index,
    );
    return ids.map(id => newest.filter(row => row.templateId === id));
  })) ?? [];
