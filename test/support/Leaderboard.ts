/** Layer without a leaderboard: fitness is the static map's. */
import * as Layer from "effect/Layer"
import { staticFitness } from "../../src/routing/auto/Fitness.ts"
import { LeaderboardSync } from "../../src/routing/auto/LeaderboardSync.ts"

export const noLeaderboard = Layer.succeed(
  LeaderboardSync,
  LeaderboardSync.of({ overrides: () => [], fitness: () => staticFitness })
)
