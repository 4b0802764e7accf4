import { Arg, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { GATE_READERS, READERS } from '../entities/access.js';
import { IntelligenceStage } from '../entities/enums.js';
import { StageGate, StageInfo } from '../entities/loop.js';
import { gateOf, gateOfFlag, stageInfo } from '../queries/stage.js';
import { FeatureFlag } from '../stubs.js';

@Resolver(() => StageInfo)
export class StageResolver {
  @Access(READERS)
  @Query(() => StageInfo, { description: 'The stage in force, and what stands against the next one.' })
  intelligenceStage(@Ctx() ctx: Context): Promise<StageInfo> {
    return stageInfo(ctx);
  }

  @Access(GATE_READERS)
  @Query(() => StageGate, { description: "Whether a stage may be advanced to; platform's guard of the flag reads it." })
  stageGate(@Arg('to', () => IntelligenceStage) to: IntelligenceStage, @Ctx() ctx: Context): Promise<StageGate> {
    return gateOf(ctx, to);
  }
}

@Resolver(() => FeatureFlag)
export class FlagGateResolver {
  @Access(GATE_READERS)
  @FieldResolver(() => StageGate, { nullable: true, description: 'Gate of the next stage; null for every other flag, and at S5.' })
  stageGate(@Root() { key }: FeatureFlag, @Ctx() ctx: Context): Promise<StageGate | null> {
    return gateOfFlag(ctx, key);
  }
}
