/** Layer without a leaderboard: fitness is the static map's. */
import * as Layer from "effect/Layer"
import { staticFitness } from "../../src/plane/routing/auto/Fitness.ts"
import { LeaderboardSync } from "../../src/plane/routing/auto/LeaderboardSync.ts"

export const noLeaderboard = Layer.succeed(
  LeaderboardSync,
  LeaderboardSync.of({ overrides: () => [], fitness: () => staticFitness })
)
