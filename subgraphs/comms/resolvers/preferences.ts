import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { registerDevice, removeDevice } from '../commands/devices.js';
import { preferencesOf, updatePreferences } from '../commands/preferences.js';
import { DEVICE_OWNERS, PREFERENCE_READERS, PREFERENCE_WRITERS } from '../entities/access.js';
import { CommsPreferences } from '../entities/preferences.js';
import { CommsTopic } from '../entities/topic.js';
import { PushPublicKey, PushSubscription } from '../entities/suppression.js';
import { RegisterPushSubscriptionInput } from '../inputs/devices.js';
import { UpdateCommsPreferencesInput } from '../inputs/preferences.js';
import { settingsOf } from '../ports/settings.js';

@Resolver(() => CommsPreferences)
export class PreferencesResolver {
  @Access({ ...PREFERENCE_READERS, self: true })
  @Query(() => CommsPreferences, { description: 'What a person wants to get, and when.' })
  commsPreferences(
    @Rule({ pattern: UUID }) @Arg('userId', () => ID, { nullable: true }) userId: string | null,
    @Ctx() ctx: Context,
  ): Promise<CommsPreferences> {
    return preferencesOf(ctx, ctx.subject(userId));
  }

  @Access({ ...PREFERENCE_WRITERS, self: true })
  @Mutation(() => CommsPreferences, { description: 'Changes what is named; the rest stays.' })
  updateCommsPreferences(
    @Arg('input', () => UpdateCommsPreferencesInput) input: UpdateCommsPreferencesInput,
    @Ctx() ctx: Context,
  ): Promise<CommsPreferences> {
    return updatePreferences(ctx, input);
  }

  @Access({ service: '*', user: '*' })
  @Query(() => [CommsTopic], { description: 'What messages can be about.' })
  commsTopics(@Ctx() ctx: Context): Promise<CommsTopic[]> {
    return ctx.em.find(CommsTopic, {}, { orderBy: { key: 'asc' } });
  }
}

@Resolver(() => PushSubscription)
export class DeviceResolver {
  @Access({ public: true })
  @Query(() => PushPublicKey, { description: 'With which a browser subscribes.' })
  pushPublicKey(@Ctx() ctx: Context): PushPublicKey {
    return { vapidPublicKey: settingsOf(ctx.host).vapid.publicKey };
  }

  @Access(DEVICE_OWNERS)
  @Mutation(() => PushSubscription, {
    description: "A browser or device that is to take pushes; one that was another person's is yours now.",
  })
  registerPushSubscription(
    @Arg('input', () => RegisterPushSubscriptionInput) input: RegisterPushSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<PushSubscription> {
    return registerDevice(ctx, input);
  }

  @Access(DEVICE_OWNERS)
  @Query(() => [PushSubscription], { description: 'Own browsers and devices, newest first.' })
  myPushSubscriptions(@Ctx() ctx: Context): Promise<PushSubscription[]> {
    return ctx.em.find(PushSubscription, { userId: ctx.caller.userId! }, { orderBy: { createdAt: 'desc', id: 'desc' } });
  }

  @Access(DEVICE_OWNERS)
  @Mutation(() => PushSubscription, { description: 'Takes a browser or device away.' })
  removePushSubscription(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<PushSubscription> {
    return removeDevice(ctx, id);
  }
}
